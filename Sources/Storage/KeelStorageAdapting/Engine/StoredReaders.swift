internal import KeelCore
package import KeelDocuments
internal import Synchronization

package struct StoredReader {
    /// The largest number of readers for which a store retains its log.
    package static let most = 1_000
    package static let longestLifetime = Duration.seconds(90 * 86_400)

    package let name: String
    package let sequence: Int64
    /// When the reader was last seen, as the store ages.
    package let seen: Int64
    package let lifetime: Duration

    package init(name: String, sequence: Int64, seen: Int64, lifetime: Duration) {
        self.name = name
        self.sequence = sequence
        self.seen = seen
        self.lifetime = lifetime
    }
}

extension StorageError {
    package static var tooManyReaders: StorageError {
        StorageError(
            .tooLarge,
            "the store retains its log for \(StoredReader.most) readers already; remove one with unregisterReader(_:)"
        )
    }
}

extension ChangeReader {
    /// Checks the length of the reader's name, by which stores find it.
    ///
    /// - Throws: `StorageError/Code/invalidArgument`.
    package func checkName() throws(StorageError) {
        guard name.utf8.count > StoredName.longest else { return }
        throw StorageError(
            .invalidArgument,
            "the name of a reader has \(name.utf8.count) bytes; the limit is \(StoredName.longest)"
        )
    }
}

package struct ReaderNeed {
    package let after: Int64
    package let lifetime: Duration
    package let gone: [String]

    /// Determines the need of readers.
    ///
    /// A reader that never advances does not retain changes older than the log's horizon and its lifetime together.
    package init(of readers: [StoredReader], at age: StoreAge, horizon: Duration) throws {
        guard !readers.isEmpty else {
            (after, lifetime, gone) = (.max, .zero, [])
            return
        }
        let limits = try age.moments(surelyOlderThan: readers.map(\.lifetime))
        let isGone = zip(readers, limits).map { reader, limit in
            limit.map { reader.seen <= $0.time } ?? false
        }
        let present = zip(readers, isGone).filter { !$1 }.map(\.0)
        let bounds = try age.sequences(olderThan: present.map { horizon + $0.lifetime })
        gone = zip(readers, isGone).filter(\.1).map(\.0.name)
        lifetime = present.map(\.lifetime).max() ?? .zero
        after = zip(present, bounds).map { max($0.sequence, $1 ?? 0) }.min() ?? .max
    }
}

/// Decides when to record a reader's position again, which is a write to the store.
package final class ReaderPace: Sendable {
    private let timeline: Timeline
    /// Keyed by the bytes of the names, because `String` equality includes canonical equivalence.
    private let recorded = Mutex<[[UInt8]: Duration]>([:])

    package init(_ clock: any Clock<Duration>) { timeline = Timeline(clock) }

    /// Records the position of the reader that is named in a request, if that is due.
    ///
    /// `next` is the end of the page that answers the request.
    ///
    /// A failure does not fail the request: the next request tries again.
    ///
    /// - Throws: `StorageError/Code/cancelled`.
    package func follow(
        _ request: ChangeRequest,
        answeredUpTo next: ChangeCursor,
        record: (ChangeReader, ChangeCursor) async throws(StorageError) -> Void,
        release: (String) async throws(StorageError) -> Void
    ) async throws(StorageError) {
        guard let reader = request.reader else { return }
        do throws(StorageError) {
            guard reader.lifetime > .zero else { return try await release(reader.name) }
            guard isDue(reader) else { return }
            // The reader may not receive the current page, so the recorded position is the one before it.
            try await record(reader, request.after ?? next)
        } catch {
            forget(reader.name)
            if error.isCancellation { throw error }
        }
    }

    /// Returns whether a reader's position has not been recorded for ten minutes, or a sixteenth of its lifetime.
    private func isDue(_ reader: ChangeReader) -> Bool {
        let (now, name) = (timeline.now, Array(reader.name.utf8))
        return recorded.withLock { recorded in
            let pause = min(.seconds(600), reader.lifetime / 16)
            if let last = recorded[name], now - last < pause { return false }
            // Names come from callers and must not accumulate.
            if recorded.count >= StoredReader.most { recorded.removeAll() }
            recorded[name] = now
            return true
        }
    }

    package func forget(_ name: String) { recorded.withLock { $0[Array(name.utf8)] = nil } }
}
