package import KeelCore
internal import Synchronization

/// An in-memory file system that records every step, fails on demand and simulates crashes.
///
/// ```swift
/// let files = SimulatedFileSystem()
/// // … let the code under test write …
/// for count in 0...files.steps.count {
///     let left = SimulatedFileSystem(files.disk(afterKillAt: count))
///     try reopen(left)
/// }
/// ```
package final class SimulatedFileSystem: FileSystem {
    struct State: Sendable {
        var disk: SimulatedDisk
        var steps: [FileStep] = []
        var nextFile: Int
        var locks: Set<String> = []
        /// The number of open appending handles per file.
        var appenders: [Int: Int] = [:]
        var capacity: Int?
        var peak = 0
        var fault: (@Sendable (FileCall) -> Int32?)?
    }

    let state: Mutex<State>

    package init(_ disk: SimulatedDisk = SimulatedDisk()) {
        let next = (disk.contents.keys.max() ?? 0) + 1
        state = Mutex(State(disk: disk, nextFile: next))
    }

    /// The current contents of the disk.
    package var disk: SimulatedDisk {
        get { state.withLock { $0.disk } }
        set { state.withLock { $0.disk = newValue } }
    }

    /// Every change so far, in order.
    package var steps: [FileStep] { state.withLock { $0.steps } }

    /// The largest total size of the files so far, in bytes.
    package var peakByteCount: Int { state.withLock { $0.peak } }

    /// Limits the total size of all files in bytes; a write beyond the limit is truncated and fails.
    package func limit(to byteCount: Int?) { state.withLock { $0.capacity = byteCount } }

    /// Makes calls fail.
    ///
    /// - Parameter fault: Returns the `errno` of a call's failure; nil lets the call through.
    package func fail(_ fault: (@Sendable (FileCall) -> Int32?)?) {
        state.withLock { $0.fault = fault }
    }

    /// Removes all files, as if the folder were deleted; open files stay readable.
    package func vanish() {
        state.withLock { state in
            state.disk.paths = [:]
            state.locks = []
        }
    }

    // MARK: FileSystem

    package func makeFolder(_ path: String) throws(FileSystemError) {
        try check(.makeFolder(path), "mkdir")
    }

    package func names(in folder: String) throws(FileSystemError) -> [String] {
        try check(.names(folder), "opendir")
        return state.withLock { state in
            state.disk.paths.keys.compactMap { path in
                guard path.hasPrefix(folder + "/") else { return nil }
                let name = path.dropFirst(folder.count + 1)
                return name.contains("/") ? nil : String(name)
            }
        }
    }

    package func size(of path: String) throws(FileSystemError) -> Int? {
        state.withLock { $0.disk[path]?.count }
    }

    package func open(
        _ path: String,
        for access: FileAccess
    ) throws(FileSystemError) -> any OpenFile {
        guard access == .creating else {
            if access == .appending, state.withLock({ $0.disk.paths[path] }) == nil {
                _ = try open(path, for: .creating)
            }
            try check(.open(path), "open")
            guard let file = state.withLock({ $0.disk.paths[path] }) else {
                throw FileSystemError("open", path, number: FileSystemError.notFound)
            }
            return SimulatedFile(file, path, of: self, isAppending: access == .appending)
        }
        try check(.create(path), "open")
        let file = state.withLock { state -> Int? in
            guard state.disk.paths[path] == nil else { return nil }
            let file = state.nextFile
            state.nextFile += 1
            state.change(.create(file: file, path: path))
            return file
        }
        guard let file else { throw FileSystemError("open", path, number: FileSystemError.exists) }
        return SimulatedFile(file, path, of: self)
    }

    package func rename(_ path: String, to newPath: String) throws(FileSystemError) {
        try check(.rename(path), "rename")
        try changePath(path, "rename", .rename(path: path, newPath: newPath))
    }

    package func remove(_ path: String) throws(FileSystemError) {
        try check(.remove(path), "unlink")
        try changePath(path, "unlink", .remove(path: path))
    }

    package func syncFolder(_ path: String) throws(FileSystemError) {
        try check(.syncFolder(path), "fsync")
        state.withLock { $0.change(.syncFolder(path: path)) }
    }

    package func lock(_ path: String) throws(FileSystemError) -> any FileLock {
        try check(.lock(path), "flock")
        let isTaken = state.withLock { state in
            if state.disk.paths[path] == nil {
                state.change(.create(file: state.nextFile, path: path))
                state.nextFile += 1
            }
            if let file = state.disk.paths[path], state.appenders[file, default: 0] > 0 {
                return true
            }
            return !state.locks.insert(path).inserted
        }
        if isTaken { throw FileSystemError("flock", path, number: FileSystemError.busy) }
        return SimulatedLock(path, of: self)
    }

    private func changePath(
        _ path: String,
        _ call: String,
        _ step: FileStep
    ) throws(FileSystemError) {
        let isThere = state.withLock { state in
            guard state.disk.paths[path] != nil else { return false }
            state.change(step)
            return true
        }
        guard isThere else { throw FileSystemError(call, path, number: FileSystemError.notFound) }
    }

    func check(_ call: FileCall, _ name: String) throws(FileSystemError) {
        let fault = state.withLock { $0.fault }
        guard let number = fault?(call) else { return }
        throw FileSystemError(name, call.path, number: number)
    }
}

extension SimulatedFileSystem.State {
    mutating func change(_ step: FileStep) {
        disk.apply(step)
        steps.append(step)
        if case .write = step { peak = max(peak, disk.byteCount) }
    }
}

private final class SimulatedLock: FileLock {
    private let path: String
    private let files: SimulatedFileSystem

    init(_ path: String, of files: SimulatedFileSystem) {
        self.path = path
        self.files = files
    }

    deinit { _ = files.state.withLock { $0.locks.remove(path) } }

    func isStill(at path: String) -> Bool {
        path == self.path && files.state.withLock { $0.disk.paths[path] != nil }
    }
}
