--- The version of the library.
return "0.1.0"
