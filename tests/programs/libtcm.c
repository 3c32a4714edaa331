/* build: gcc -O2 -Wl,-soname,libtcm.so.1 */
/* Stands for Intel's Thread Composability Manager, switched off: declines whoever connects, and says that somebody
 * did. */
#include <stdio.h>

int tcmConnect(void *callback, void *client)
{
    (void)callback, (void)client;
    fprintf(stderr, "the other manager was asked\n");
    return 0x7ffffffe;
}

#define REFUSE(name) int name(void) { return 0x7ffffffe; }
REFUSE(tcmDisconnect)
REFUSE(tcmRequestPermit)
REFUSE(tcmGetPermitData)
REFUSE(tcmReleasePermit)
REFUSE(tcmIdlePermit)
REFUSE(tcmDeactivatePermit)
REFUSE(tcmActivatePermit)
REFUSE(tcmRegisterThread)
REFUSE(tcmUnregisterThread)
REFUSE(tcmGetVersionInfo)
