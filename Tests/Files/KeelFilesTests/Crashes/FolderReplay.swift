#if os(Linux) || os(macOS)
import Foundation
import KeelFiles

/// The changes of a local store, which can be repeated up to a crash.
struct FolderReplay {
    /// The contents of a folder, with unique node numbers.
    struct Contents {
        struct File {
            var bytes: [UInt8] = []
            var label: [UInt8]?
            var modified: Int64 = 0
        }

        fileprivate(set) var files: [Int: File] = [:]
        /// The names in each folder.
        fileprivate(set) var folders: [Int: [String: Int]] = [0: [:]]
    }

    /// A change, with node numbers that are never reused.
    private enum Change {
        case write(file: Int, offset: Int, bytes: [UInt8], modified: Int64)
        case label(file: Int, bytes: [UInt8])
        /// A name is moved, removed or added.
        case names(node: Int, from: Place?, to: Place?)
        case sync(Int)
    }

    private struct Place: Hashable {
        let folder: Int
        let name: String
    }

    private var changes: [Change] = []
    private var isFolder: [Int: Bool] = [0: true]
    /// The creation time of each file.
    private var made: [Int: Int64] = [:]

    var count: Int { changes.count }

    /// Prepares the changes that were made in a folder, which was empty before.
    init(_ steps: [FolderStep], in path: String) throws {
        let root = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber]
        var nodes: [UInt64: Int] = [(root as? NSNumber)?.uint64Value ?? 0: 0]
        var names: [Place: Int] = [:]
        var sizes: [Int: Int] = [:]
        // The volume reuses inode numbers.
        func node(_ number: UInt64) -> Int { nodes[number] ?? -1 }
        func begin(_ number: UInt64, _ place: Place, _ isFolder: Bool) -> Change {
            let node = self.isFolder.count
            self.isFolder[node] = isFolder
            nodes[number] = node
            names[place] = node
            return .names(node: node, from: nil, to: place)
        }
        for step in steps {
            switch step {
            case .create(let file, let folder, let name, let modified):
                changes.append(begin(file, Place(folder: node(folder), name: name), false))
                made[node(file)] = modified
            case .makeFolder(let own, let folder, let name):
                changes.append(begin(own, Place(folder: node(folder), name: name), true))
            case .write(let file, let bytes, let modified):
                let (file, offset) = (node(file), sizes[node(file), default: 0])
                sizes[file] = offset + bytes.count
                changes.append(.write(file: file, offset: offset, bytes: bytes, modified: modified))
            case .label(let file, let bytes): changes.append(.label(file: node(file), bytes: bytes))
            case .rename(let folder, let name, let newFolder, let newName):
                let from = Place(folder: node(folder), name: name)
                let to = Place(folder: node(newFolder), name: newName)
                let node = names.removeValue(forKey: from) ?? -1
                names[to] = node
                changes.append(.names(node: node, from: from, to: to))
            case .remove(let folder, let name):
                let from = Place(folder: node(folder), name: name)
                let node = names.removeValue(forKey: from) ?? -1
                changes.append(.names(node: node, from: from, to: nil))
            case .sync(let number): changes.append(.sync(node(number)))
            }
        }
    }

    // MARK: Crashes

    /// Returns the contents after a kill: every previous change, and possibly a part of the next write.
    func contents(
        afterKillAt count: Int,
        using random: inout some RandomNumberGenerator
    ) -> Contents {
        var contents = begun()
        for change in changes.prefix(count) { apply(change, to: &contents) }
        if count < changes.count,
            case .write(let file, let offset, let bytes, let modified) = changes[count]
        {
            let part = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
            apply(
                .write(file: file, offset: offset, bytes: part, modified: modified),
                to: &contents
            )
        }
        return contents
    }

    /// Returns the contents after a power failure: the synchronized changes, and an arbitrary part of the others.
    ///
    /// An unsynchronized write is present, missing, truncated, or filled with zeros; an unsynchronized label or name is
    /// old or new. Each is decided independently. A name survives if any of its folders was synchronized, because
    /// volumes rename atomically across folders.
    func contents(
        afterPowerFailureAt count: Int,
        using random: inout some RandomNumberGenerator
    ) -> Contents {
        var synced: [Int: Int] = [:]
        for (position, change) in changes.prefix(count).enumerated() {
            if case .sync(let node) = change { synced[node] = position }
        }
        // From keeping all unsynchronized changes to keeping none.
        let chance = Int.random(in: 0...4, using: &random)
        var contents = begun()
        for (position, change) in changes.prefix(count).enumerated() {
            let isSafe =
                switch change {
                case .write(let file, _, _, _), .label(let file, _): position < synced[file] ?? -1
                case .names(_, let from, let to):
                    [from, to].contains { position < $0.flatMap { synced[$0.folder] } ?? -1 }
                case .sync: true
                }
            if isSafe || Int.random(in: 0...4, using: &random) < chance {
                apply(change, to: &contents)
            } else if case .write(let file, let offset, let bytes, let modified) = change {
                var part = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
                if Bool.random(using: &random) { part = [UInt8](repeating: 0, count: part.count) }
                apply(
                    .write(file: file, offset: offset, bytes: part, modified: modified),
                    to: &contents
                )
            }
        }
        return contents
    }

    /// Returns an empty folder, with all files and folders still unnamed.
    private func begun() -> Contents {
        var contents = Contents()
        for (node, isFolder) in isFolder {
            if isFolder {
                contents.folders[node] = [:]
            } else {
                contents.files[node] = .init(modified: made[node] ?? 0)
            }
        }
        return contents
    }

    private func apply(_ change: Change, to contents: inout Contents) {
        switch change {
        case .write(let file, let offset, let bytes, let modified):
            guard var known = contents.files.removeValue(forKey: file) else { return }
            let missing = offset - known.bytes.count
            if missing > 0 { known.bytes += [UInt8](repeating: 0, count: missing) }
            known.bytes += bytes
            known.modified = modified
            contents.files[file] = known
        case .label(let file, let bytes): contents.files[file]?.label = bytes
        case .names(let node, let from, let to):
            if let from, contents.folders[from.folder]?[from.name] == node {
                contents.folders[from.folder]?[from.name] = nil
            }
            if let to { contents.folders[to.folder]?[to.name] = node }
        case .sync: break
        }
    }
}

extension FolderReplay.Contents {
    /// Creates the files and folders in an empty folder.
    func write(to path: String) throws { try write(0, to: path) }

    private func write(_ folder: Int, to path: String) throws {
        for (name, node) in folders[folder] ?? [:] {
            let place = path + "/" + name
            if let file = files[node] {
                try write(file, to: place)
            } else {
                try FileManager.default.createDirectory(
                    atPath: place,
                    withIntermediateDirectories: false
                )
                try write(node, to: place)
            }
        }
    }

    private func write(_ file: File, to path: String) throws {
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXError(.EIO) }
        defer { close(descriptor) }
        #if canImport(Darwin)
        let put = Darwin.write
        #else
        let put = Glibc.write
        #endif
        guard put(descriptor, file.bytes, file.bytes.count) == file.bytes.count else {
            throw POSIXError(.EIO)
        }
        if let label = file.label, !FolderTrace.repeat(label: label, on: descriptor) {
            throw POSIXError(.EIO)
        }
        let time = timespec(
            tv_sec: Int(file.modified / 1_000_000_000),
            tv_nsec: Int(file.modified % 1_000_000_000)
        )
        guard futimens(descriptor, [time, time]) == 0 else { throw POSIXError(.EIO) }
    }
}
#endif
