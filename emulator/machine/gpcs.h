/* machine/gpcs.h - the SMs of each GPC, which follow each other, where --gpc-sizes gives no others. */
#ifndef MACHINE_GPCS_H
#define MACHINE_GPCS_H

#define MACH_B200_GPCS 8
/* clang-format off */
#define MACH_GPC_SMS {20, 18, 18, 18, 20, 18, 18, 18}
/* clang-format on */

#endif
