internal import KeelCore
internal import KeelDocuments
internal import KeelStorageAdapting

/// A hub that reads an adapter's change log once for many, with one task at a time: the *reader*.
///
/// ``ListenerHub`` and the hub of a server share this reading, and ``InterestIndex``. They deliver apart,
/// because they promise different things. A client's listeners want the last state of each document, at
/// consistent points only; its reader asks for the union of their interests, and is replaced when a
/// listener comes that it does not cover. A server's listeners want bytes, also between consistent
/// points; its reader asks its own disk for everything, and encodes each page once, outside of the lock.
package protocol ChangeReading: AnyObject, Sendable {
    /// What is read.
    var adapter: any StorageAdapter { get }
    /// The clock of pauses.
    var clock: any Clock<Duration> { get }

    /// The next request of a reader; nil if another one has replaced it, or nobody listens.
    func nextRequest(of reader: UInt64) -> ChangeRequest?

    /// Takes a page of a reader; of one that was replaced, it tells nothing to anybody.
    func deliver(_ page: ChangePage, of reader: UInt64)

    /// Begins anew at a position, because the log does not reach back to the reader's.
    func restart(at position: ChangeCursor, of reader: UInt64)

    /// Notes that the reader asks for the same again after a pause.
    func miss(of reader: UInt64)

    /// Takes an error that repeating does not mend.
    ///
    /// - Returns: Whether the reader goes on at once.
    func refuse(_ error: StorageError, of reader: UInt64) -> Bool
}

extension ChangeReading {
    /// Starts a reader, which ends when its task is cancelled or ``nextRequest(of:)`` has none.
    ///
    /// The hub is held only between the waits, so that one that is let go can go.
    package func startReader(_ reader: UInt64) -> Task<Void, Never> {
        let hub: @Sendable () -> Self? = { [weak self] in self }
        return StorageContext.withoutContext { Task { await Self.read(as: reader, for: hub) } }
    }

    private static func read(as reader: UInt64, for hub: @Sendable () -> Self?) async {
        var failures = 0
        var generator = SystemRandomNumberGenerator()
        while !Task.isCancelled, let adapter = hub()?.adapter, let clock = hub()?.clock,
            let request = hub()?.nextRequest(of: reader)
        {
            do throws(StorageError) {
                let page = try await adapter.changes(request)
                hub()?.deliver(page, of: reader)
                failures = 0
            } catch {
                if error.isCancellation || Task.isCancelled { return }
                guard error.isTransient || error.code == .cursorExpired else {
                    guard hub()?.refuse(error, of: reader) == true else { return }
                    continue
                }
                hub()?.miss(of: reader)
                if error.code == .cursorExpired, let position = try? await position(of: adapter) {
                    hub()?.restart(at: position, of: reader)
                    continue
                }
                failures += 1
                let pause = RetryPolicy.listening.delay(before: failures, using: &generator)
                try? await clock.sleep(for: pause)
            }
        }
    }

    private static func position(
        of adapter: any StorageAdapter
    ) async throws(StorageError) -> ChangeCursor? {
        var request = ReadRequest(.documents([]))
        request.needsPosition = true
        return try await adapter.read(request).position
    }
}
