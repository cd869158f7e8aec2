/*
** Declares a variable or function that a build or a process may lack. Its address is NULL then.
*/
#ifndef RP_OPTIONAL_H
#define RP_OPTIONAL_H

#define RP_OPTIONAL __attribute__((weak))

#endif
