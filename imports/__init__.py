"""The only package that imports the framework and the provider bindings. Importing it starts Node and loads them fast.

aws.py, cdk.py and helm.py name the classes of CDKTF; the type checker reads no others. For CDK Terrain, Python takes
the files of the same names in cdktn/.
"""

from nodeless.imports.fast_bindings import prepare
from nodeless.imports.framework import chosen

FRAMEWORK = chosen()
# Where Python looks for `nodeless.imports.aws` before it looks here.
__path__[:0] = FRAMEWORK.folders
prepare(FRAMEWORK)
