internal import KeelCore
internal import KeelDocuments
internal import KeelStorageAdapting

/// Reads an adapter's change log once for many listeners, with one task at a time: the *reader*.
///
/// ``ListenerHub`` and the hub of a server share this loop. A client's reader asks for the union of the listeners'
/// interests, and delivers the last state of each document at consistent positions. A server's reader asks for all
/// changes, and delivers bytes at any position.
package protocol ChangeReading: AnyObject, Sendable {
    var adapter: any StorageAdapter { get }
    var clock: any Clock<Duration> { get }
    /// The principal on whose behalf changes are read.
    var principal: StoragePrincipal? { get }

    /// Returns the next request of a reader; nil if the reader has been replaced or there are no listeners.
    func nextRequest(of reader: UInt64) -> ChangeRequest?

    /// Delivers a page of a reader, unless the reader has been replaced.
    func deliver(_ page: ChangePage, of reader: UInt64)

    /// Continues at a position after the reader's cursor has expired.
    func restart(at position: ChangeCursor, of reader: UInt64)

    /// Handles the failure of a request; returns whether the reader pauses before its next request.
    ///
    /// `failures` counts failures in succession. After `StorageError/Code/cursorExpired`, ``restart(at:of:)`` follows.
    func fail(_ error: StorageError, failures: Int, of reader: UInt64) -> Bool
}

extension ChangeReading {
    package var principal: StoragePrincipal? { nil }

    /// Starts a reader, which ends when its task is canceled or ``nextRequest(of:)`` returns nil.
    ///
    /// The task references the hub weakly. If more than one request of the readers before it has failed in succession,
    /// the reader begins with a pause.
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
