import KeelCore
import Synchronization

/// The files of a download: the growing part, its record, and the lock.
///
/// The record is at the start of its file and is replaced as a whole. Two slots follow, written in turn, each with a
/// count of durable bytes and a checksum: if a crash tears one slot, the other remains. A slot is written after the
/// bytes it counts were synchronized, so any slot that survives a power failure is true.
///
/// Calls block; the transfer makes them serially on its queue.
final class DownloadFile: Sendable {
    private struct State {
        var lock: (any FileLock)?
        var part: (any OpenFile)?
        var notes: (any OpenFile)?
        var sequence: UInt64 = 0
        var checksum: UInt32 = 0
        var digest: (any TransferDigest)?
        var digested: Int64 = 0
    }

    /// Each slot has its own block, after the record's.
    private static let block = 4096
    private static let slotLength = 20

    let files: any FileSystem
    /// Creates files readable by others, as far as the process's umask allows.
    private let shared: any FileSystem
    let names: TransferNames
    private let expected: ExpectedDigest?
    private let state = Mutex(State())

    init(
        _ names: TransferNames,
        _ files: any FileSystem,
        shared: any FileSystem,
        expected: ExpectedDigest?
    ) {
        self.names = names
        self.files = files
        self.shared = shared
        self.expected = expected
    }

    var partPath: String { names.companion("part") }
    private var notesPath: String { names.companion("download") }
    private var newNotesPath: String { names.companion("download-new") }
    var resumePath: String { names.companion("resume") }
    private var lockPath: String { names.companion("lock") }

    // MARK: Opening

    struct Found: Sendable {
        var record: DownloadRecord?
        var durable: Int64 = 0
        var isDamaged = false
    }

    func open() throws(FileSystemError) -> Found {
        let lock = try files.transferLock(lockPath)
        state.withLock { $0.lock = lock }
        return try look()
    }

    var isOpen: Bool { state.withLock { $0.lock != nil } }

    func look() throws(FileSystemError) -> Found {
        let size = try files.size(of: partPath)
        guard let bytes = try files.contents(of: notesPath, upTo: Self.block * 3) else {
            return Found(isDamaged: (size ?? 0) > 0)
        }
        guard let size,
            let record = RecordFile.record(
                DownloadRecord.self,
                in: bytes,
                kind: DownloadRecord.kind
            )
        else { return Found(isDamaged: true) }
        let checksum = Self.checksum(of: bytes)
        let slots = (1...2).compactMap { Self.slot(in: bytes, at: $0 * Self.block, checksum) }
        guard let last = slots.max(by: { $0.sequence < $1.sequence }) else {
            return Found(record: record)
        }
        // The part was truncated, so its record is worthless.
        guard last.durable <= Int64(size), last.durable <= record.total ?? .max else {
            return Found(isDamaged: true)
        }
        state.withLock { state in
            state.sequence = last.sequence
            state.checksum = checksum
        }
        return Found(record: record, durable: last.durable)
    }

    /// Returns the checksum of the record, which binds the slots to it.
    private static func checksum(of bytes: [UInt8]) -> UInt32 {
        CRC32C.checksum(Array(bytes.prefix(RecordFile.headLength)))
    }

    private static func slot(
        in bytes: [UInt8],
        at offset: Int,
        _ checksum: UInt32
    ) -> (sequence: UInt64, durable: Int64)? {
        guard bytes.count >= offset + slotLength else { return nil }
        let slot = Array(bytes[offset..<offset + slotLength])
        return slot.withUnsafeBytes { buffer in
            let sequence = buffer.loadLittleEndian(at: 0, as: UInt64.self)
            let durable = buffer.loadLittleEndian(at: 8, as: Int64.self)
            let sum = buffer.loadLittleEndian(at: 16, as: UInt32.self)
            guard sum == Self.sum(sequence, durable, checksum), durable >= 0 else { return nil }
            return (sequence, durable)
        }
    }

    private static func sum(_ sequence: UInt64, _ durable: Int64, _ record: UInt32) -> UInt32 {
        var sum = CRC32C()
        sum.update(sequence)
        sum.update(UInt64(bitPattern: durable))
        sum.update(UInt64(record))
        return sum.value
    }

    // MARK: Writing

    func begin(_ record: DownloadRecord) throws(FileSystemError) {
        let part = try openPart()
        try part.truncate(to: 0)
        try write(record, durable: nil)
        state.withLock { state in
            state.part = part
            state.digest = expected?.make()
            state.digested = 0
        }
    }

    /// Continues after the durable bytes; later ones are dropped, as their contents are undefined.
    func resume(at durable: Int64) throws(FileSystemError) {
        let part = try shared.open(partPath, for: .writing)
        try part.truncate(to: Int(durable))
        let notes = try files.open(notesPath, for: .writing)
        state.withLock { state in
            state.part = part
            state.notes = notes
            state.digest = expected?.make()
            state.digested = 0
        }
    }

    func note(_ record: DownloadRecord, durable: Int64) throws(FileSystemError) {
        try write(record, durable: durable)
    }

    private func openPart() throws(FileSystemError) -> any OpenFile {
        do throws(FileSystemError) {
            return try shared.open(partPath, for: .creating)
        } catch {
            guard error.kind == .exists else { throw error }
            return try shared.open(partPath, for: .writing)
        }
    }

    private func write(_ record: DownloadRecord, durable: Int64?) throws(FileSystemError) {
        var bytes = RecordFile.bytes(of: record, kind: DownloadRecord.kind)
        let checksum = Self.checksum(of: bytes)
        let sequence = state.withLock { state in
            state.checksum = checksum
            state.sequence += 1
            return state.sequence
        }
        let end = durable == nil ? Self.block : Self.place(of: sequence)
        bytes += [UInt8](repeating: 0, count: max(0, end - bytes.count))
        if let durable { bytes += Self.slot(sequence, durable, checksum) }
        try files.replaceFile(notesPath, by: newNotesPath, with: bytes)
        // After a power failure, newer bytes must not be found beside an older record.
        try files.syncFolder(names.folder)
        let notes = try files.open(notesPath, for: .writing)
        state.withLock { $0.notes = notes }
    }

    /// Returns the position of a slot, which is never that of the one before.
    private static func place(of sequence: UInt64) -> Int { block * (1 + Int(sequence % 2)) }

    private static func slot(_ sequence: UInt64, _ durable: Int64, _ checksum: UInt32) -> [UInt8] {
        var slot: [UInt8] = []
        slot.append(littleEndian: sequence)
        slot.append(littleEndian: durable)
        slot.append(littleEndian: sum(sequence, durable, checksum))
        return slot
    }

    func write(_ bytes: [UInt8], at offset: Int64) throws(FileSystemError) {
        let part = state.withLock { state in
            if state.digest != nil, state.digested == offset {
                bytes.withUnsafeBytes { state.digest?.update($0) }
                state.digested += Int64(bytes.count)
            }
            return state.part
        }
        try part?.write(bytes, at: Int(offset))
    }

    func keep(_ durable: Int64) throws(FileSystemError) {
        let (part, notes, sequence, checksum) = state.withLock { state in
            state.sequence += 1
            return (state.part, state.notes, state.sequence, state.checksum)
        }
        try part?.sync()
        try notes?.write(Self.slot(sequence, durable, checksum), at: Self.place(of: sequence))
        // Reported progress must survive a power failure.
        try notes?.sync()
    }

    // MARK: Completion

    /// Drops what a server has sent beyond the end, and returns whether the file has the expected digest.
    func check(_ total: Int64) throws(FileSystemError) -> Bool {
        if let size = try files.size(of: partPath), Int64(size) > total {
            let part = try shared.open(partPath, for: .writing)
            try part.truncate(to: Int(total))
            try part.sync()
        }
        guard let expected else { return true }
        var (digest, offset, open) = state.withLock { state in
            (state.digest ?? expected.make(), state.digested, state.part)
        }
        if open == nil { open = try shared.open(partPath, for: .reading) }
        while offset < total {
            let count = Int(min(total - offset, 1 << 20))
            let bytes = try open?.read(at: Int(offset), count: count) ?? []
            guard !bytes.isEmpty else { return false }
            bytes.withUnsafeBytes { digest.update($0) }
            offset += Int64(bytes.count)
        }
        return digest.finish() == expected.value
    }

    func finish() throws(FileSystemError) {
        try files.rename(partPath, to: names.file)
        try files.syncFolder(names.folder)
        try files.removeIfThere(notesPath)
        try files.removeIfThere(resumePath)
        try unlock()
    }

    func discard() throws(FileSystemError) {
        try files.removeIfThere(partPath)
        try files.removeIfThere(notesPath)
        try files.removeIfThere(newNotesPath)
        try files.removeIfThere(resumePath)
    }

    /// Releases the lock, removing its file first while no one else can hold it.
    func unlock() throws(FileSystemError) {
        let isHeld = state.withLock { $0.lock != nil }
        guard isHeld else { return }
        try files.removeIfThere(lockPath)
        state.withLock { $0 = State() }
    }
}
