// SPDX-License-Identifier: GPL-2.0
/*
 * vqib: /dev/vqib_wire. Reading returns the packets on the wire as a pcap stream of
 * LINKTYPE_INFINIBAND (247): LRH to payload, ICRC, VCRC, with nanoseconds. Writing injects a
 * packet.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "vqib.h"

static unsigned int cap_mode = 1;
module_param(cap_mode, uint, 0644);
MODULE_PARM_DESC(cap_mode,
		 "capture: 1 each packet where it enters the fabric, 2 on every link that it crosses");
static unsigned int cap_lost = 1;
module_param(cap_lost, uint, 0644);
MODULE_PARM_DESC(cap_lost,
		 "capture: 1 the sender's end of a link, with what the link will lose; 0 the receiver's");

#define MAX_BYTES (128u << 20)	/* records that wait for a reader */
#define PCAP_MAGIC_NS 0xa1b23c4d
#define LINKTYPE_INFINIBAND 247

struct pcap_file_header {
	u32 magic;
	u16 major, minor;
	u32 zone, accuracy, snaplen, linktype;
};

struct pcap_record_header {
	u32 sec, nsec, caplen, len;
};

struct record {
	struct list_head list;
	u32 len;
	u8 data[];
};

/* an open file */
struct reader {
	struct list_head list;		/* under readers_lock */
	spinlock_t lock;		/* records, bytes, lost */
	struct list_head records;
	size_t bytes;
	u64 lost;
	wait_queue_head_t wait;
	struct mutex reading;		/* serialises read() */
	u32 offset;			/* octets read of the first record; under reading */
};

static LIST_HEAD(readers);
static DEFINE_SPINLOCK(readers_lock);
static atomic_t nreaders;

bool vqib_capture_wants(bool enters)
{
	return atomic_read(&nreaders) && (enters || cap_mode >= 2);
}

bool vqib_capture_sender_view(void)
{
	return cap_lost;
}

/* --------------------------------------------------------------- recording */

static struct record *record_of(const struct vqib_pkt *p, const struct timespec64 *ts)
{
	struct pcap_record_header h = { .sec = ts->tv_sec, .nsec = ts->tv_nsec };
	struct record *r;

	h.len = p->len + VQIB_CRCS;
	h.caplen = h.len;
	r = kmalloc(sizeof(*r) + sizeof(h) + h.len, GFP_ATOMIC);
	if (!r)
		return NULL;
	r->len = sizeof(h) + h.len;
	memcpy(r->data, &h, sizeof(h));
	memcpy(r->data + sizeof(h), p->data, h.len);
	return r;
}

static void give(struct reader *reader, const struct vqib_pkt *p, const struct timespec64 *ts)
{
	struct record *r = record_of(p, ts);

	spin_lock(&reader->lock);
	if (r && reader->bytes > MAX_BYTES) {
		kfree(r);
		r = NULL;
	}
	if (r) {
		list_add_tail(&r->list, &reader->records);
		reader->bytes += r->len;
	} else {
		reader->lost++;
	}
	spin_unlock(&reader->lock);
	wake_up_interruptible(&reader->wait);
}

/* vqib_capture - queues a packet for all readers; computes the CRCs if the packet has none yet */
void vqib_capture(struct vqib_pkt *p)
{
	struct reader *reader;
	struct timespec64 ts;
	unsigned long flags;

	if (!atomic_read(&nreaders))
		return;
	vqib_seal(p);
	spin_lock_irqsave(&readers_lock, flags);
	ktime_get_real_ts64(&ts);
	list_for_each_entry(reader, &readers, list)
		give(reader, p, &ts);
	spin_unlock_irqrestore(&readers_lock, flags);
}

/* ----------------------------------------------------------------- reading */

static struct record *file_header(void)
{
	const struct pcap_file_header h = {
		.magic = PCAP_MAGIC_NS,
		.major = 2,
		.minor = 4,
		.snaplen = 65535,
		.linktype = LINKTYPE_INFINIBAND,
	};
	struct record *r = kmalloc(sizeof(*r) + sizeof(h), GFP_KERNEL);

	if (r) {
		r->len = sizeof(h);
		memcpy(r->data, &h, sizeof(h));
	}
	return r;
}

static int wire_open(struct inode *inode, struct file *file)
{
	struct reader *reader = kzalloc(sizeof(*reader), GFP_KERNEL);
	struct record *r;

	if (!reader)
		return -ENOMEM;
	INIT_LIST_HEAD(&reader->list);
	INIT_LIST_HEAD(&reader->records);
	spin_lock_init(&reader->lock);
	mutex_init(&reader->reading);
	init_waitqueue_head(&reader->wait);
	file->private_data = reader;
	if (!(file->f_mode & FMODE_READ))
		return stream_open(inode, file);
	r = file_header();
	if (!r) {
		kfree(reader);
		return -ENOMEM;
	}
	list_add_tail(&r->list, &reader->records);
	reader->bytes = r->len;
	spin_lock_irq(&readers_lock);
	list_add_tail(&reader->list, &readers);
	spin_unlock_irq(&readers_lock);
	atomic_inc(&nreaders);
	return stream_open(inode, file);
}

static int wire_release(struct inode *inode, struct file *file)
{
	struct reader *reader = file->private_data;
	struct record *r, *next;

	if (!list_empty(&reader->list)) {
		atomic_dec(&nreaders);
		spin_lock_irq(&readers_lock);
		list_del(&reader->list);
		spin_unlock_irq(&readers_lock);
	}
	if (reader->lost)
		pr_warn("vqib: a capture lost %llu packets\n", reader->lost);
	list_for_each_entry_safe(r, next, &reader->records, list)
		kfree(r);
	kfree(reader);
	return 0;
}

static struct record *first_record(struct reader *reader)
{
	struct record *r;

	spin_lock_irq(&reader->lock);
	r = list_first_entry_or_null(&reader->records, struct record, list);
	spin_unlock_irq(&reader->lock);
	return r;
}

/* copies from the first record, frees it at its end; returns the number of octets or an error */
static ssize_t read_some(struct reader *reader, struct record *r, char __user *buf, size_t n)
{
	n = min_t(size_t, n, r->len - reader->offset);
	if (copy_to_user(buf, r->data + reader->offset, n))
		return -EFAULT;
	reader->offset += n;
	if (reader->offset == r->len) {
		spin_lock_irq(&reader->lock);
		list_del(&r->list);
		reader->bytes -= r->len;
		spin_unlock_irq(&reader->lock);
		kfree(r);
		reader->offset = 0;
	}
	return n;
}

static ssize_t wire_read(struct file *file, char __user *buf, size_t n, loff_t *off)
{
	struct reader *reader = file->private_data;
	ssize_t done = 0, some = 0;
	struct record *r;

	if (mutex_lock_interruptible(&reader->reading))
		return -ERESTARTSYS;
	while (done < n) {
		r = first_record(reader);
		if (r)
			some = read_some(reader, r, buf + done, n - done);
		else if (done)
			break;
		else if (file->f_flags & O_NONBLOCK)
			some = -EAGAIN;
		else
			some = wait_event_interruptible(reader->wait, first_record(reader));
		if (some < 0)
			break;
		done += r ? some : 0;
	}
	mutex_unlock(&reader->reading);
	return done ? done : some;
}

static __poll_t wire_poll(struct file *file, poll_table *table)
{
	struct reader *reader = file->private_data;

	poll_wait(file, &reader->wait, table);
	return (first_record(reader) ? EPOLLIN | EPOLLRDNORM : 0) | EPOLLOUT | EPOLLWRNORM;
}

/* --------------------------------------------------------------- injecting */

/* the header before a packet that is written */
struct injection {
	u8 unit;
	u8 incoming;	/* 0: as if sent by the HCA; 1: as if arrived on its link */
	u8 sealed;	/* 1: the packet has ICRC and VCRC, right or wrong; 0: it has none */
	u8 reserved;
};

static ssize_t wire_write(struct file *file, const char __user *buf, size_t n, loff_t *off)
{
	struct injection how;
	struct vqib_end *end;
	struct vqib_pkt *p;
	size_t len;

	if (n < sizeof(how) || copy_from_user(&how, buf, sizeof(how)))
		return n < sizeof(how) ? -EINVAL : -EFAULT;
	len = n - sizeof(how);
	if (how.sealed)
		len = len < VQIB_CRCS ? 0 : len - VQIB_CRCS;
	if (len < VQIB_LRH + VQIB_BTH || len > VQIB_MAX_PKT || len & 3)
		return -EINVAL;
	if (how.unit >= vqib_nhcas)
		return -ENODEV;
	end = vqib_end_of(vqib_hca[how.unit]->pport);
	p = vqib_pkt_alloc(len, GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	if (copy_from_user(p->data, buf + sizeof(how), n - sizeof(how))) {
		kfree(p);
		return -EFAULT;
	}
	p->sealed = how.sealed;
	if (how.incoming) {
		p->at = end;
		p->capture = true;
		vqib_arrive(p);
	} else {
		vqib_send(end, p, true);
	}
	return n;
}

static const struct file_operations wire_fops = {
	.owner = THIS_MODULE,
	.open = wire_open,
	.release = wire_release,
	.read = wire_read,
	.write = wire_write,
	.poll = wire_poll,
};

static struct miscdevice wire_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "vqib_wire",
	.fops = &wire_fops,
	.mode = 0600,
};

int vqib_capture_init(void)
{
	return misc_register(&wire_misc);
}

void vqib_capture_exit(void)
{
	misc_deregister(&wire_misc);
}
