"""The classes of CDK Terrain, with the names that the files in the folder above give to those of CDKTF."""
