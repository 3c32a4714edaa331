! build: gfortran -O2 -fopenmp -fdefault-integer-8
! The same with integers of 8 bytes, for which the calls have entry points of their own.
include 'fortran.f90'
