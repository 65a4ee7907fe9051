// Extended attributes of files, which Swift's modules of the C library leave out on Linux.
#include <sys/xattr.h>
