#if PostgreSQL
internal import Foundation
internal import KeelStorageAdapting
internal import Synchronization

/// A pipe by which other threads wake a thread that waits for a socket.
final class WakePipe: Sendable {
    private let reading: Int32
    private let writing: Int32
    /// Whether a byte is in the pipe, which is thus never full.
    private let isWoken = Atomic(false)

    /// - Throws: `StorageError/Code/unavailable` if the process has no file descriptors left.
    init() throws(StorageError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw StorageError(
                .unavailable,
                "the process has too many open files; close some, or raise its limit"
            )
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        close(reading)
        close(writing)
    }

    func wake() {
        guard isWoken.exchange(true, ordering: .acquiringAndReleasing) == false else { return }
        var byte: UInt8 = 0
        _ = write(writing, &byte, 1)
    }

    /// Waits like ``wait(for:upTo:)``, for no socket if it is negative; returns whether the socket is ready.
    func wait(_ socket: Int32, _ events: Int16, upTo limit: Duration) throws -> Bool {
        try wait(for: [pollfd(fd: socket, events: events, revents: 0)], upTo: limit)[0]
    }

    /// Waits for the first of several sockets, or for ``wake()``, at most an hour; returns which sockets are ready.
    func wait(for sockets: [pollfd], upTo limit: Duration) throws -> [Bool] {
        var watched = sockets + [pollfd(fd: reading, events: Int16(POLLIN), revents: 0)]
        let (seconds, attoseconds) = limit.components
        // Rounded up, so that a wait does not end just before its deadline and begin again.
        let milliseconds = min(seconds, 3600) * 1000 + attoseconds / 1_000_000_000_000_000 + 1
        // A negative time has no end, and a deadline may have passed.
        let count = poll(&watched, nfds_t(watched.count), Int32(max(0, milliseconds)))
        guard count >= 0 else {
            guard errno == EINTR else { throw DatabaseFailure.lost("the socket cannot be watched") }
            return sockets.map { _ in false }
        }
        if watched[sockets.count].revents != 0 {
            var bytes: [UInt8] = [0, 0, 0, 0]
            _ = read(reading, &bytes, bytes.count)
            // After reading: a byte written in between would be read too, and all later ones withheld.
            _ = isWoken.exchange(false, ordering: .acquiringAndReleasing)
        }
        return watched.prefix(sockets.count).map { $0.revents != 0 }
    }
}
#endif
