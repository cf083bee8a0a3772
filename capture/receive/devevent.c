/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asynchronous events of a device. See devevent.h. */
#include "capture/receive/devevent.h"

#include <errno.h>
#include <fcntl.h>

bool devevent_prepare(const struct device *device)
{
    int fd = device->context->async_fd;

    return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0;
}

static enum devevent meaning(const struct device *device, const struct ibv_async_event *event)
{
    switch (event->event_type) {
    case IBV_EVENT_DEVICE_FATAL:
        return DEVEVENT_REMOVED;
    case IBV_EVENT_CQ_ERR:
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
        return DEVEVENT_BROKEN;
    default:
        break;
    }
    if (event->event_type != IBV_EVENT_PORT_ACTIVE && event->event_type != IBV_EVENT_PORT_ERR &&
        event->event_type != IBV_EVENT_LID_CHANGE && event->event_type != IBV_EVENT_PKEY_CHANGE &&
        event->event_type != IBV_EVENT_GID_CHANGE && event->event_type != IBV_EVENT_SM_CHANGE &&
        event->event_type != IBV_EVENT_CLIENT_REREGISTER)
        return DEVEVENT_NONE;
    if (event->element.port_num != device->port)
        return DEVEVENT_NONE;
    if (event->event_type == IBV_EVENT_PORT_ERR)
        return DEVEVENT_PORT_DOWN;
    return event->event_type == IBV_EVENT_PORT_ACTIVE ? DEVEVENT_PORT_UP : DEVEVENT_CHANGED;
}

enum devevent devevent_take(const struct device *device)
{
    enum devevent found = DEVEVENT_NONE;
    struct ibv_async_event event;

    while (found == DEVEVENT_NONE) {
        /* EIO: the kernel has disconnected the device */
        if (ibv_get_async_event(device->context, &event) != 0)
            return errno == EAGAIN || errno == EINTR ? DEVEVENT_NONE : DEVEVENT_REMOVED;
        found = meaning(device, &event);
        ibv_ack_async_event(&event);
    }
    return found;
}
