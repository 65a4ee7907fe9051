#if SQLite
import Foundation
import GRDBSQLite
import Synchronization

/// A file system for SQLite (https://sqlite.org/vfs.html) that forwards to the system's and logs changes,
/// synchronizations and acknowledgements.
///
/// From the log, `PowerLog` of the tests builds the possible results of a power failure at any time. Nothing is
/// flushed to the disk here; the log says what would have been flushed.
///
/// A record consists of a kind byte and three 8-byte numbers in native byte order: the file, a position, and the
/// count of the bytes that follow.
final class PowerRecorder: Sendable {
    enum Kind: UInt8 {
        /// A file was opened, and possibly created, under the path that follows.
        case open = 1
        case write, truncate
        /// All writes to the file before the record number `position` are durable.
        case sync
        /// The entries of the folder are durable.
        case syncFolder
        case delete
        /// The commit of the batch of this number was acknowledged to its caller.
        case acknowledge
    }

    private struct State {
        var count: Int64 = 0
        var files: [String: Int64] = [:]
        var fileCount: Int64 = 0
    }

    /// The only recorder, because C callbacks cannot carry another one.
    ///
    /// It is installed before any callback.
    static var shared: PowerRecorder { installed.unsafelyUnwrapped }
    nonisolated(unsafe) private static var installed: PowerRecorder?

    nonisolated(unsafe) let system: UnsafeMutablePointer<sqlite3_vfs>
    private let output: Int32
    private let state = Mutex(State())

    /// Installs the file system for all connections that are opened from now on.
    static func install(log path: String) {
        let output = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        precondition(output >= 0, "cannot write to \(path)")
        installed = PowerRecorder(output: output)
        let recorder = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        recorder.initialize(to: shared.system.pointee)
        recorder.pointee.pNext = nil
        recorder.pointee.zName = UnsafePointer(strdup("keel-power"))
        recorder.pointee.szOsFile += RecordedFile.byteCount
        recorder.pointee.xOpen = RecordedFile.open
        recorder.pointee.xDelete = { _, path, syncsFolder in
            PowerRecorder.shared.delete(path, syncsFolder: syncsFolder != 0)
        }
        precondition(sqlite3_vfs_register(recorder, 1) == SQLITE_OK)
    }

    private init(output: Int32) {
        self.output = output
        system = sqlite3_vfs_find(nil)
    }

    func acknowledge(_ number: Int64) {
        state.withLock { append(.acknowledge, file: 0, position: number, to: &$0) }
    }

    fileprivate func opened(_ path: String) -> Int64 {
        state.withLock { state in
            if let known = state.files[path] { return known }
            state.fileCount += 1
            state.files[path] = state.fileCount
            let name = Array(path.utf8)
            name.withUnsafeBytes { bytes in
                append(.open, file: state.fileCount, position: 0, bytes, to: &state)
            }
            return state.fileCount
        }
    }

    /// Makes a change and records it atomically.
    fileprivate func change(
        _ kind: Kind,
        _ file: Int64,
        _ position: Int64,
        _ bytes: UnsafeRawBufferPointer,
        _ body: () -> Int32
    ) -> Int32 {
        nonisolated(unsafe) let bytes = bytes
        nonisolated(unsafe) let body = body
        return state.withLock { state in
            let code = body()
            if code == SQLITE_OK { append(kind, file: file, position: position, bytes, to: &state) }
            return code
        }
    }

    /// Records a synchronization, which covers the writes before its start and takes effect at its end.
    fileprivate func synchronised(_ file: Int64, folder: Bool) {
        let covered = state.withLock { $0.count }
        state.withLock { state in
            append(.sync, file: file, position: covered, to: &state)
            if folder { append(.syncFolder, file: file, position: covered, to: &state) }
        }
    }

    private func delete(_ path: UnsafePointer<CChar>?, syncsFolder: Bool) -> Int32 {
        let name = path.map { String(cString: $0) } ?? ""
        nonisolated(unsafe) let path = path
        return state.withLock { state in
            let code = system.pointee.xDelete(system, path, 0)
            if code == SQLITE_OK, let file = state.files.removeValue(forKey: name) {
                append(.delete, file: file, position: 0, to: &state)
                if syncsFolder {
                    append(.syncFolder, file: file, position: state.count, to: &state)
                }
            }
            return code
        }
    }

    private func append(
        _ kind: Kind,
        file: Int64,
        position: Int64,
        _ bytes: UnsafeRawBufferPointer = .init(start: nil, count: 0),
        to state: inout State
    ) {
        state.count += 1
        var record = [kind.rawValue]
        for number in [file, position, Int64(bytes.count)] {
            withUnsafeBytes(of: number) { record.append(contentsOf: $0) }
        }
        record.append(contentsOf: bytes)
        precondition(write(output, record, record.count) == record.count, "the log is cut short")
    }
}

/// SQLite's state of an open file, followed by the state of the system's file system.
struct RecordedFile {
    // The first field, as in SQLite's struct.
    var methods: UnsafePointer<sqlite3_io_methods>?
    var file: Int64
    /// Whether the first synchronization includes the folder, as in SQLite's `unixSync`.
    var syncsFolder: Bool

    static let byteCount: Int32 = 64

    static let open:
        @convention(c) (
            UnsafeMutablePointer<sqlite3_vfs>?, UnsafePointer<CChar>?,
            UnsafeMutablePointer<sqlite3_file>?, Int32, UnsafeMutablePointer<Int32>?
        ) -> Int32 = { _, name, file, flags, outFlags in
            let system = PowerRecorder.shared.system
            let code = system.pointee.xOpen(system, name, real(file), flags, outFlags)
            let recorded = recorded(file)
            let isOpen = real(file).pointee.pMethods != nil
            recorded.pointee.methods = isOpen ? UnsafePointer(methods) : nil
            guard code == SQLITE_OK else { return code }
            let logs = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL
            recorded.pointee.syncsFolder = flags & SQLITE_OPEN_CREATE != 0 && flags & logs != 0
            let path =
                flags & SQLITE_OPEN_DELETEONCLOSE == 0 ? name.map { String(cString: $0) } : nil
            recorded.pointee.file = path.map(PowerRecorder.shared.opened) ?? 0
            return code
        }

    private static func real(
        _ file: UnsafeMutablePointer<sqlite3_file>?
    ) -> UnsafeMutablePointer<sqlite3_file> {
        (UnsafeMutableRawPointer(file.unsafelyUnwrapped) + Int(byteCount)).assumingMemoryBound(
            to: sqlite3_file.self
        )
    }

    private static func recorded(_ file: UnsafeMutablePointer<sqlite3_file>?)
        -> UnsafeMutablePointer<Self>
    {
        UnsafeMutableRawPointer(file.unsafelyUnwrapped).assumingMemoryBound(to: Self.self)
    }

    /// The methods of SQLite's version 2, without those that map the file into memory.
    nonisolated(unsafe) private static let methods: UnsafeMutablePointer<sqlite3_io_methods> = {
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        UnsafeMutableRawPointer(methods).initializeMemory(
            as: UInt8.self,
            repeating: 0,
            count: MemoryLayout<sqlite3_io_methods>.size
        )
        methods.pointee.iVersion = 2
        methods.pointee.xClose = { real($0).pointee.pMethods.pointee.xClose(real($0)) }
        methods.pointee.xRead = { file, bytes, count, offset in
            real(file).pointee.pMethods.pointee.xRead(real(file), bytes, count, offset)
        }
        methods.pointee.xWrite = { file, bytes, count, offset in
            let raw = UnsafeRawBufferPointer(start: bytes, count: Int(count))
            let write = {
                real(file).pointee.pMethods.pointee.xWrite(real(file), bytes, count, offset)
            }
            let id = recorded(file).pointee.file
            return id == 0 ? write() : PowerRecorder.shared.change(.write, id, offset, raw, write)
        }
        methods.pointee.xTruncate = { file, size in
            let truncate = { real(file).pointee.pMethods.pointee.xTruncate(real(file), size) }
            let id = recorded(file).pointee.file
            return id == 0
                ? truncate()
                : PowerRecorder.shared.change(
                    .truncate,
                    id,
                    size,
                    .init(start: nil, count: 0),
                    truncate
                )
        }
        methods.pointee.xSync = { file, _ in
            let id = recorded(file).pointee.file
            guard id != 0 else { return SQLITE_OK }
            PowerRecorder.shared.synchronised(id, folder: recorded(file).pointee.syncsFolder)
            recorded(file).pointee.syncsFolder = false
            return SQLITE_OK
        }
        methods.pointee.xFileSize = { real($0).pointee.pMethods.pointee.xFileSize(real($0), $1) }
        methods.pointee.xLock = { real($0).pointee.pMethods.pointee.xLock(real($0), $1) }
        methods.pointee.xUnlock = { real($0).pointee.pMethods.pointee.xUnlock(real($0), $1) }
        methods.pointee.xCheckReservedLock = {
            real($0).pointee.pMethods.pointee.xCheckReservedLock(real($0), $1)
        }
        methods.pointee.xFileControl = {
            real($0).pointee.pMethods.pointee.xFileControl(real($0), $1, $2)
        }
        methods.pointee.xSectorSize = { real($0).pointee.pMethods.pointee.xSectorSize(real($0)) }
        methods.pointee.xDeviceCharacteristics = {
            real($0).pointee.pMethods.pointee.xDeviceCharacteristics(real($0))
        }
        methods.pointee.xShmMap = { file, page, size, extends, memory in
            real(file).pointee.pMethods.pointee.xShmMap(real(file), page, size, extends, memory)
        }
        methods.pointee.xShmLock = { file, offset, count, flags in
            real(file).pointee.pMethods.pointee.xShmLock(real(file), offset, count, flags)
        }
        methods.pointee.xShmBarrier = { real($0).pointee.pMethods.pointee.xShmBarrier(real($0)) }
        methods.pointee.xShmUnmap = { real($0).pointee.pMethods.pointee.xShmUnmap(real($0), $1) }
        return methods
    }()
}
#endif
