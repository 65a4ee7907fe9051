internal import KeelCore
internal import Synchronization

final class SimulatedFile: OpenFile {
    private let file: Int
    private let path: String
    private let files: SimulatedFileSystem

    private let isAppending: Bool

    init(_ file: Int, _ path: String, of files: SimulatedFileSystem, isAppending: Bool = false) {
        self.file = file
        self.path = path
        self.files = files
        self.isAppending = isAppending
        if isAppending { files.state.withLock { $0.appenders[file, default: 0] += 1 } }
    }

    deinit {
        if isAppending { files.state.withLock { $0.appenders[file, default: 0] -= 1 } }
    }

    func size() throws(FileSystemError) -> Int {
        files.state.withLock { $0.disk.contents[file]?.count ?? 0 }
    }

    func read(at offset: Int, count: Int) throws(FileSystemError) -> [UInt8] {
        try files.check(.read(path), "pread")
        return files.state.withLock { state in
            guard let content = state.disk.contents[file], offset < content.count else { return [] }
            return Array(content[offset..<min(content.count, offset + max(0, count))])
        }
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(FileSystemError) {
        try files.check(.write(path), "pwrite")
        let isWhole = files.state.withLock { state in
            guard let capacity = state.capacity else {
                state.change(.write(file: file, offset: offset, bytes: bytes))
                return true
            }
            let size = state.disk.contents[file]?.count ?? 0
            let room = max(0, capacity - state.disk.byteCount) + max(0, size - offset)
            let part = Array(bytes.prefix(room))
            state.change(.write(file: file, offset: offset, bytes: part))
            return part.count == bytes.count
        }
        guard isWhole else {
            throw FileSystemError("pwrite", path, number: FileSystemError.noSpace)
        }
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(FileSystemError) {
        try write(Array(bytes), at: size())
    }

    func modificationTime() throws(FileSystemError) -> Int64? { nil }

    func truncate(to size: Int) throws(FileSystemError) {
        try files.check(.truncate(path), "ftruncate")
        files.state.withLock { $0.change(.truncate(file: file, size: size)) }
    }

    func sync() throws(FileSystemError) {
        try files.check(.sync(path), "fsync")
        files.state.withLock { $0.change(.sync(file: file)) }
    }

    func isStill(at path: String) -> Bool { files.state.withLock { $0.disk.paths[path] == file } }
}
