internal import KeelCore
internal import Synchronization

/// The files of a journal.
///
/// | name | what |
/// |---|---|
/// | `journal.lock` | held while segments are created and removed |
/// | `0000000000000001.journal` | a segment; its writer holds a lock on it |
/// | `NAME.cursor` | what the consumer NAME has acknowledged, replaced by renaming |
/// | `NAME.lost` | the number of records the consumer has lost to the bounds |
/// | `NAME.lock` | held by the consumer |
/// | `journal.time` | the certain time (``CertainTime``), if records expire |
struct JournalFolder: Sendable {
    let path: String
    let files: any FileSystem
    /// Threads of one process wait here, which is cheaper than polling the file lock.
    private let turn = Turn()

    private final class Turn: Sendable {
        let mutex = Mutex(())
    }

    private static let digits = 16
    private static let lockName = "journal.lock"
    private static let segmentSuffix = ".journal"
    static let cursorSuffix = ".cursor"
    static let lostSuffix = ".lost"

    func path(of name: String) -> String { "\(path)/\(name)" }

    func path(ofSegment number: UInt64) -> String {
        path(of: number.digits(Self.digits, radix: 16) + Self.segmentSuffix)
    }

    /// Whether the folder has, or ever had, segments or consumers.
    var isThere: Bool { (try? files.size(of: path(of: Self.lockName))) != nil }

    /// Calls a closure while no other process creates or removes segments.
    func locked<Value: Sendable>(
        _ body: () throws(FileSystemError) -> Value
    ) throws(FileSystemError) -> Value {
        try turn.mutex.withLock { _ throws(FileSystemError) in
            let lock = try files.lock(path(of: Self.lockName), waitingUpTo: 10_000)
            return try withExtendedLifetime(lock) { () throws(FileSystemError) in try body() }
        }
    }

    /// Returns the time before which records have surely expired; nil if none has.
    ///
    /// Requires the folder's lock.
    func oldest(_ configuration: JournalConfiguration, at now: Int64) -> Int64? {
        guard let limit = configuration.ageLimit?.microseconds else { return nil }
        return CertainTime.oldest(within: limit, at: now, notedIn: path(of: "journal.time"), files)
    }

    func segments() throws(FileSystemError) -> [UInt64] {
        try files.names(in: path).compactMap(Self.number).sorted()
    }

    func consumers() throws(FileSystemError) -> [String] {
        try files.names(in: path).filter { $0.hasSuffix(Self.cursorSuffix) }
            .map { String($0.dropLast(Self.cursorSuffix.count)) }.sorted()
    }

    private static func number(ofName name: String) -> UInt64? {
        guard name.hasSuffix(segmentSuffix) else { return nil }
        let number = name.dropLast(segmentSuffix.count)
        return number.count == digits ? UInt64(number, radix: 16) : nil
    }

    /// Whether a segment has a writer; nil if it is gone.
    ///
    /// Requires the folder's lock: taking the lock of a segment just removed would recreate it.
    func isLive(_ number: UInt64) throws(FileSystemError) -> Bool? {
        let path = path(ofSegment: number)
        guard try files.size(of: path) != nil else { return nil }
        do throws(FileSystemError) {
            _ = try files.lock(path)
            return false
        } catch {
            guard error.kind == .busy else { throw error }
            return true
        }
    }

    /// Opens a segment for reading; nil if it is gone or its header is corrupt.
    func scanner(
        of number: UInt64,
        at offset: Int = SegmentHeader.byteCount
    ) throws(FileSystemError) -> SegmentScanner? {
        guard let file = try files.openIfThere(path(ofSegment: number)) else { return nil }
        let bytes = try file.read(at: 0, count: SegmentHeader.byteCount)
        return SegmentHeader(bytes, number: number).map {
            SegmentScanner(file, $0, at: max(offset, SegmentHeader.byteCount))
        }
    }

    /// Replaces a small file atomically, with its permissions and, as root, its owner.
    func replace(
        _ name: String,
        with bytes: [UInt8],
        isSynced: Bool
    ) throws(FileSystemError) {
        let part = path(of: name + ".part")
        if try files.size(of: part) != nil { try files.remove(part) }
        let file = try files.open(part, for: .creating)
        try file.write(bytes, at: 0)
        file.takeAccess(of: path(of: name))
        if isSynced { try file.sync() }
        try files.rename(part, to: path(of: name))
        if isSynced { try files.syncFolder(path) }
    }

    /// The bytes of a small file; nil if there is none.
    func contents(of name: String) throws(FileSystemError) -> [UInt8]? {
        try files.contents(of: path(of: name))
    }
}
