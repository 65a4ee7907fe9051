/// The contents of a simulated disk: files by number, and the paths that lead to them.
package struct SimulatedDisk: Sendable {
    /// The bytes of each file that is still needed.
    package var contents: [Int: [UInt8]] = [:]
    /// The number of the file at each path.
    package var paths: [String: Int] = [:]

    package init() {}

    /// The total size in bytes of the files that have a path.
    package var byteCount: Int { paths.values.reduce(0) { $0 + (contents[$1]?.count ?? 0) } }

    /// The contents of the file at a path.
    package subscript(path: String) -> [UInt8]? {
        get { paths[path].flatMap { contents[$0] } }
        set {
            guard let file = paths[path] else { return }
            contents[file] = newValue
        }
    }

    /// Repeats a recorded step; with `torn`, only that many bytes of a write.
    package mutating func `repeat`(_ step: FileStep, upTo torn: Int? = nil) {
        guard let torn, case .write(let file, let offset, let bytes) = step else {
            return apply(step)
        }
        write(Array(bytes.prefix(torn)), at: offset, in: file)
    }

    mutating func apply(_ step: FileStep) {
        switch step {
        case .create(let file, let path):
            contents[file] = contents[file] ?? []
            paths[path] = file
        case .write(let file, let offset, let bytes): write(bytes, at: offset, in: file)
        case .truncate(let file, let size): truncate(file, to: size)
        case .rename(let path, let newPath):
            guard let file = paths.removeValue(forKey: path) else { return }
            paths[newPath] = file
        case .remove(let path): paths[path] = nil
        case .sync, .syncFolder: break
        }
    }

    mutating func write(_ bytes: [UInt8], at offset: Int, in file: Int) {
        var content = contents.removeValue(forKey: file) ?? []
        if content.count < offset {
            content += [UInt8](repeating: 0, count: offset - content.count)
        }
        let overlap = min(content.count - offset, bytes.count)
        if overlap == 0 {
            content += bytes
        } else {
            content.replaceSubrange(offset..<offset + overlap, with: bytes)
        }
        contents[file] = content
    }

    mutating func truncate(_ file: Int, to size: Int) {
        var content = contents.removeValue(forKey: file) ?? []
        if content.count > size { content.removeLast(content.count - size) }
        if content.count < size { content += [UInt8](repeating: 0, count: size - content.count) }
        contents[file] = content
    }
}

/// A change of a simulated disk.
package enum FileStep: Sendable {
    /// A new, empty file was created.
    case create(file: Int, path: String)
    /// Bytes were written to a file.
    case write(file: Int, offset: Int, bytes: [UInt8])
    /// A file was truncated or extended with zeros.
    case truncate(file: Int, size: Int)
    /// All earlier writes to a file became durable.
    case sync(file: Int)
    case rename(path: String, newPath: String)
    case remove(path: String)
    /// The names in the folder became durable.
    case syncFolder(path: String)
}

/// A call to a simulated disk, as passed to the closure that decides whether it fails.
package enum FileCall: Hashable, Sendable {
    case makeFolder(String)
    case names(String)
    case open(String)
    case create(String)
    case read(String)
    case write(String)
    case truncate(String)
    case sync(String)
    case rename(String)
    case remove(String)
    case syncFolder(String)
    case lock(String)

    package var path: String {
        switch self {
        case .makeFolder(let path), .names(let path), .open(let path), .create(let path),
            .read(let path), .write(let path), .truncate(let path), .sync(let path),
            .rename(let path), .remove(let path), .syncFolder(let path), .lock(let path):
            path
        }
    }
}
