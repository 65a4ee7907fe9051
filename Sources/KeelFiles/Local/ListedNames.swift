internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The names of the large folder that was read last, for the next page of its list.
///
/// Without them each page would read all names of the folder again, and a list of a hundred thousand
/// files would read ten million.
final class ListedNames: Sendable {
    private struct Known {
        let prefix: String
        let status: FileStatus
        let entries: [LocalFileStoreAdapter.Entry]
    }

    /// Folders with fewer names are read again, which costs next to nothing.
    private static let fewest = 1_000
    /// How long a folder must have been unchanged when it was read, in nanoseconds: within the
    /// resolution of a volume's times, a later change might not show.
    static let usualSettling: Int64 = 3_000_000_000

    private let settling: Int64
    private let known = Mutex<Known?>(nil)
    private let readings = Mutex(0)

    init(settling: Int64 = usualSettling) { self.settling = settling }

    /// How many times a folder was read.
    var readCount: Int { readings.withLock { $0 } }

    /// The entries of a folder, where it is as it was when they were read.
    func entries(
        of prefix: String,
        _ status: FileStatus?
    ) -> [LocalFileStoreAdapter.Entry]? {
        known.withLock { known in
            guard let known, known.prefix == prefix, known.status == status else { return nil }
            return known.entries
        }
    }

    /// Gives up what is kept: a list has come to its end.
    func forget() { known.withLock { $0 = nil } }

    /// Keeps what was read of a folder.
    ///
    /// - Parameters:
    ///   - entries: The entries, sorted.
    ///   - prefix: The folder's path.
    ///   - status: What was known of the folder before it was read.
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
