internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The names of the large folder that was read last, so that the next page of its listing need not read them again.
final class ListedNames: Sendable {
    private struct Known {
        let prefix: String
        let status: FileStatus
        let entries: [LocalFileStoreAdapter.Entry]
    }

    private static let fewest = 1_000
    /// The time that a folder must have been unchanged when it was read, in nanoseconds.
    ///
    /// Within the resolution of a volume's timestamps, a later change might not be visible.
    static let usualSettling: Int64 = 3_000_000_000

    private let settling: Int64
    private let known = Mutex<Known?>(nil)
    private let readings = Mutex(0)

    init(settling: Int64 = usualSettling) { self.settling = settling }

    var readCount: Int { readings.withLock { $0 } }

    func entries(
        of prefix: String,
        _ status: FileStatus?
    ) -> [LocalFileStoreAdapter.Entry]? {
        known.withLock { known in
            guard let known, known.prefix == prefix, known.status == status else { return nil }
            return known.entries
        }
    }

    func forget() { known.withLock { $0 = nil } }

    /// Caches the sorted entries of a folder, with the status that the folder had before it was read.
    func keep(
        _ entries: [LocalFileStoreAdapter.Entry],
        of prefix: String,
        _ status: FileStatus?
    ) {
        readings.withLock { $0 += 1 }
        let now = Int64(Date().timeIntervalSince1970 * 1_000_000_000)
        guard entries.count >= Self.fewest, let status,
            now - max(status.modified, status.changed) > settling
        else { return }
        known.withLock { $0 = Known(prefix: prefix, status: status, entries: entries) }
    }
}
