internal import KeelCore
internal import KeelDocuments
internal import KeelStorageAdapting

/// Reads an adapter's change log once for many listeners, with one task at a time: the *reader*.
///
/// ``ListenerHub`` and the hub of a server share this loop and ``InterestIndex``, but deliver differently. A client's
/// listeners want the last state of each document, at consistent positions only; the reader asks for the union of
/// their interests, and is replaced when it does not cover a new listener. A server's listeners want bytes, at other
/// positions too; the reader asks the local disk for all changes, and encodes each page once, outside of the lock.
package protocol ChangeReading: AnyObject, Sendable {
    /// The adapter whose change log is read.
    var adapter: any StorageAdapter { get }
    /// The clock for pauses.
    var clock: any Clock<Duration> { get }
    /// The principal on whose behalf changes are read; nil for the app itself.
    var principal: StoragePrincipal? { get }

    /// Returns the next request of a reader; nil if the reader has been replaced or there are no listeners.
    func nextRequest(of reader: UInt64) -> ChangeRequest?

    /// Delivers a page of a reader; ignores the page if the reader has been replaced.
    func deliver(_ page: ChangePage, of reader: UInt64)

    /// Continues at a position because the log no longer reaches the reader's cursor.
    func restart(at position: ChangeCursor, of reader: UInt64)

    /// Handles the failure of a request; returns whether the reader pauses before its next request.
    ///
    /// `failures` is the number of requests that have failed in succession.
    /// After `StorageError/Code/cursorExpired`, ``restart(at:of:)`` follows.
    func fail(_ error: StorageError, failures: Int, of reader: UInt64) -> Bool
}

extension ChangeReading {
    package var principal: StoragePrincipal? { nil }

    /// Starts a reader, which ends when its task is canceled or ``nextRequest(of:)`` returns nil.
    ///
    /// The task references the hub weakly while it waits, so that the hub can be released. If more than one request of
    /// the readers before it has failed in succession, the reader begins with a pause: replacing readers must not make
    /// a store that refuses all of them busy.
    package func startReader(_ reader: UInt64, after failures: Int = 0) -> Task<Void, Never> {
        let hub: @Sendable () -> Self? = { [weak self] in self }
        let context = StorageContext().of(principal)
        return StorageContext.withoutContext {
            Task { await context.bind { await Self.read(as: reader, after: failures, for: hub) } }
        }
    }

    private static func read(
        as reader: UInt64,
        after earlierFailures: Int,
        for hub: @Sendable () -> Self?
    ) async {
        var failures = earlierFailures
        if failures > 1, let clock = hub()?.clock { await pause(after: failures, on: clock) }
        while !Task.isCancelled, let adapter = hub()?.adapter, let clock = hub()?.clock,
            let request = hub()?.nextRequest(of: reader)
        {
            do throws(StorageError) {
                let page = try await adapter.changes(request)
                hub()?.deliver(page, of: reader)
                failures = 0
            } catch {
                // A store can also cancel by itself, for example with the server before it.
                guard !Task.isCancelled else { return }
                failures += 1
                guard hub()?.fail(error, failures: failures, of: reader) == true else { continue }
                if error.code == .cursorExpired, let position = try? await position(of: adapter) {
                    hub()?.restart(at: position, of: reader)
                    // If the new position expires too, the reader pauses.
                    guard failures > 1 else { continue }
                }
                await pause(after: failures, on: clock)
            }
        }
    }

    private static func pause(after failures: Int, on clock: any Clock<Duration>) async {
        var generator = SystemRandomNumberGenerator()
        let pause = RetryPolicy.listening.delay(before: failures, using: &generator)
        try? await clock.sleep(for: pause)
    }

    private static func position(
        of adapter: any StorageAdapter
    ) async throws(StorageError) -> ChangeCursor? {
        var request = ReadRequest(.documents([]))
        request.needsPosition = true
        return try await adapter.read(request).position
    }
}
