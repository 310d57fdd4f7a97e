/* RabbitMQ driven by a native client, so that no Python client is in the way.
 *
 *   native_amqp PORT classic|quorum|express SECONDS
 *
 * A producer and a consumer process, 1 KiB bodies, the rules of board.py: express without confirms
 * and acknowledgments; else persistent, 1000 unconfirmed, an acknowledgment for every 100. The
 * first second does not count. Prints {"rate": messages a second}.
 */
#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BODY_SIZE = 1024, IN_FLIGHT = 1000, WINDOW = 20000, ACKNOWLEDGE_EVERY = 100 };

struct board { volatile long received; volatile int ready; };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

static void require(int works, const char *what) {
  if (works) return;
  fprintf(stderr, "native_amqp: %s failed\n", what);
  exit(1);
}

static void answered(amqp_connection_state_t connection, const char *what) {
  require(amqp_get_rpc_reply(connection).reply_type == AMQP_RESPONSE_NORMAL, what);
}

static amqp_connection_state_t open_queue(int port, const char *mode) {
  amqp_connection_state_t connection = amqp_new_connection();
  require(!amqp_socket_open(amqp_tcp_socket_new(connection), "127.0.0.1", port), "connect");
  amqp_rpc_reply_t login =
      amqp_login(connection, "/", 0, 131072, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest");
  require(login.reply_type == AMQP_RESPONSE_NORMAL, "login");
  amqp_channel_open(connection, 1);
  answered(connection, "channel");
  amqp_table_entry_t entry = {amqp_cstring_bytes("x-queue-type"),
                              {AMQP_FIELD_KIND_UTF8, {.bytes = amqp_cstring_bytes("quorum")}}};
  amqp_table_t quorum = {1, &entry};
  char name[64];
  snprintf(name, sizeof name, "native-%s", mode);
  amqp_queue_declare(connection, 1, amqp_cstring_bytes(name), 0, strcmp(mode, "express") != 0, 0, 0,
                     strcmp(mode, "quorum") ? amqp_empty_table : quorum);
  answered(connection, "queue");
  return connection;
}

static void consume(int port, const char *mode, struct board *board) {
  int express = !strcmp(mode, "express");
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  amqp_connection_state_t connection = open_queue(port, mode);
  char name[64];
  snprintf(name, sizeof name, "native-%s", mode);
  if (!express) {
    amqp_basic_qos(connection, 1, 0, IN_FLIGHT, 0);
    answered(connection, "prefetch");
  }
  amqp_basic_consume(connection, 1, amqp_cstring_bytes(name), amqp_empty_bytes, 0, express, 0,
                     amqp_empty_table);
  answered(connection, "consume");
  board->ready = 1;
  for (long received = 0;;) {
    amqp_envelope_t message;
    amqp_maybe_release_buffers(connection);
    require(amqp_consume_message(connection, &message, NULL, 0).reply_type ==
                AMQP_RESPONSE_NORMAL, "receive");
    require(message.message.body.len == BODY_SIZE, "body");
    board->received = ++received;
    if (!express && received % ACKNOWLEDGE_EVERY == 0)
      amqp_basic_ack(connection, 1, message.delivery_tag, 1);
    amqp_destroy_envelope(&message);
  }
}

/* Reads the confirms that are there, or waits for the first; returns the highest. */
static long confirms(amqp_connection_state_t connection, long confirmed, int wait) {
  amqp_frame_t frame;
  struct timeval zero = {0, 0};
  while (amqp_simple_wait_frame_noblock(connection, &frame, wait ? NULL : &zero) ==
         AMQP_STATUS_OK) {
    if (frame.frame_type == AMQP_FRAME_METHOD &&
        frame.payload.method.id == AMQP_BASIC_ACK_METHOD) {
      amqp_basic_ack_t *ack = frame.payload.method.decoded;
      confirmed = ack->multiple ? (long)ack->delivery_tag : confirmed + 1;
    }
    wait = 0;
  }
  amqp_maybe_release_buffers(connection);
  return confirmed;
}

int main(int count, char **arguments) {
  require(count == 4, "reading the arguments");
  int port = atoi(arguments[1]);
  const char *mode = arguments[2];
  int express = !strcmp(mode, "express");
  double seconds = atof(arguments[3]);
  struct board *board =
      mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  require(board != MAP_FAILED, "shared memory");
  pid_t consumer = fork();
  if (!consumer) consume(port, mode, board);
  double patience = now() + 20;
  while (!board->ready) {
    require(now() < patience && !waitpid(consumer, NULL, WNOHANG), "the consumer");
    usleep(1000);
  }
  amqp_connection_state_t connection = open_queue(port, mode);
  if (!express) {
    amqp_confirm_select(connection, 1);
    answered(connection, "confirms");
  }
  char body[BODY_SIZE], name[64];
  for (int at = 0; at < BODY_SIZE; at++) body[at] = rand();
  snprintf(name, sizeof name, "native-%s", mode);
  amqp_bytes_t content = {BODY_SIZE, body}, key = amqp_cstring_bytes(name);
  amqp_basic_properties_t properties = {._flags = AMQP_BASIC_DELIVERY_MODE_FLAG,
                                        .delivery_mode = express ? 1 : 2};
  long sent = 0, confirmed = 0, before = 0;
  double counted = now() + 1, end = counted + seconds, began = 0;
  for (double time; (time = now()) < end;) {
    if (!began && time >= counted) {
      began = time;
      before = board->received;
    }
    if (sent - board->received >= WINDOW) {
      usleep(200);
      continue;
    }
    if (!express && sent - confirmed >= IN_FLIGHT) {
      confirmed = confirms(connection, confirmed, 1);
      continue;
    }
    require(!amqp_basic_publish(connection, 1, amqp_empty_bytes, key, 0, 0, &properties, content),
            "send");
    sent++;
    if (!express && sent % 64 == 0) confirmed = confirms(connection, confirmed, 0);
  }
  printf("{\"rate\": %.1f}\n", (board->received - before) / (now() - began));
  kill(consumer, SIGKILL);
  waitpid(consumer, NULL, 0);
  return 0;
}
