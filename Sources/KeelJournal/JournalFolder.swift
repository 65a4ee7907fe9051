internal import KeelCore
internal import Synchronization

/// The files of a journal.
///
/// | name | what |
/// |---|---|
/// | `journal.lock` | held while segments are begun and removed |
/// | `0000000000000001.journal` | a segment; its writer holds a lock on it as long as it lives |
/// | `NAME.cursor` | what the consumer NAME has settled, replaced by renaming |
/// | `NAME.lost` | how many records the consumer has lost to the bounds |
/// | `NAME.lock` | held by the consumer |
struct JournalFolder: Sendable {
    let path: String
    let files: any FileSystem
    /// Those of one process wait for each other here, which is shorter than to ask for the file's
    /// lock again and again.
    private let turn = Turn()

    init(path: String, files: any FileSystem) {
        self.path = path
        self.files = files
    }

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
        let text = String(number, radix: 16)
        let zeros = String(repeating: "0", count: Self.digits - text.count)
        return path(of: zeros + text + Self.segmentSuffix)
    }

    /// Whether it has segments or consumers, or had some.
    var isThere: Bool { (try? files.size(of: path(of: Self.lockName))) != nil }

    /// Does something while nobody else begins or removes a segment.
    func locked<Value: Sendable>(
        _ body: () throws(FileSystemError) -> Value
    ) throws(FileSystemError) -> Value {
        try turn.mutex.withLock { _ throws(FileSystemError) in
            let lock = try files.lock(path(of: Self.lockName), waitingUpTo: 10_000)
            return try withExtendedLifetime(lock) { () throws(FileSystemError) in try body() }
        }
    }

    /// The numbers of all segments, the oldest first.
    func segments() throws(FileSystemError) -> [UInt64] {
        try files.names(in: path).compactMap(Self.number).sorted()
    }

    /// The names of all consumers.
    func consumers() throws(FileSystemError) -> [String] {
        try files.names(in: path).filter { $0.hasSuffix(Self.cursorSuffix) }
            .map { String($0.dropLast(Self.cursorSuffix.count)) }.sorted()
    }

    private static func number(ofName name: String) -> UInt64? {
        guard name.hasSuffix(segmentSuffix) else { return nil }
        let number = name.dropLast(segmentSuffix.count)
        return number.count == digits ? UInt64(number, radix: 16) : nil
    }

    /// Whether somebody still writes to a segment; nil if it is gone.
    ///
    /// Asked under the folder's lock: taking the lock of a segment that has just been removed would
    /// make it again.
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

    /// Opens a segment for reading; nil if it is gone or its header is damaged.
    func scanner(
        of number: UInt64,
        at offset: Int = SegmentHeader.byteCount
    ) throws(FileSystemError) -> SegmentScanner? {
        do throws(FileSystemError) {
            let file = try files.open(path(ofSegment: number), for: .reading)
            let bytes = try file.read(at: 0, count: SegmentHeader.byteCount)
            return SegmentHeader(bytes, number: number).map {
                SegmentScanner(file, $0, at: max(offset, SegmentHeader.byteCount))
            }
        } catch {
            guard error.kind == .notFound else { throw error }
            return nil
        }
    }

    /// Replaces a small file in one step.
    func replace(
        _ name: String,
        with bytes: [UInt8],
        isSynced: Bool
    ) throws(FileSystemError) {
        let part = path(of: name + ".part")
        if try files.size(of: part) != nil { try files.remove(part) }
        let file = try files.open(part, for: .creating)
        try file.write(bytes, at: 0)
        if isSynced { try file.sync() }
        try files.rename(part, to: path(of: name))
        if isSynced { try files.syncFolder(path) }
    }

    /// The bytes of a small file, nil when there is none.
    func contents(of name: String) throws(FileSystemError) -> [UInt8]? {
        do throws(FileSystemError) {
            let file = try files.open(path(of: name), for: .reading)
            return try file.read(at: 0, count: try file.size())
        } catch {
            guard error.kind == .notFound else { throw error }
            return nil
        }
    }
}
