internal import KeelCore

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#endif

extension LocalFileStoreAdapter {
    private struct NewFile {
        let file: Descriptor
        let name: String
    }

    private var syncs: Bool { configuration.durability == .power }

    public func write(
        _ content: FileContent,
        to path: FileStorePath,
        options: FileWriteOptions
    ) async throws(FileStoreError) -> FileMetadata {
        guard keepsLabels || (options.attributes.isEmpty && options.contentType == nil) else {
            throw FileStoreError(
                .unsupported,
                "The volume does not support extended attributes, which content types and attributes need."
            )
        }
        if options.condition != .none {
            // An early check, to avoid a useless transfer; the check at the end is the one that counts.
            try options.condition.check(path, try version(of: path))
        }
        let new = try makeNewFile(for: path)
        var isNamed = false
        defer { if !isNamed { _ = folder.news.remove(new.name) } }
        var hash = try FileHash(options.checksum?.algorithm ?? .crc32c)
        var count = 0
        let reader = try await content.open()
        while let piece = try await reader.next() {
            try FileStoreError.checkCancellation()
            let number = new.file.write(piece)
            guard number == 0 else {
                throw FileStoreError("write", path.string, .writeFailed, number: number)
            }
            hash.update(piece)
            count += piece.count
        }
        try FileStoreError.checkCancellation()
        try FileIntegrityCheck.check(count, hash.checksum, of: content, options, path)
        let type = options.contentType ?? ContentTypes.type(of: path)
        let metadata = try await publish(
            new,
            path,
            options.condition,
            try finish(new, path, type, options.attributes, hash.checksum)
        )
        isNamed = true
        return metadata
    }

    private func makeNewFile(for path: FileStorePath) throws(FileStoreError) -> NewFile {
        while true {
            let name = String(FileLabel.newVersion(), radix: 36)
            switch folder.news.open(name, O_RDWR | O_CREAT | O_EXCL) {
            case .success(let file):
                // While this lock is held, opening the store does not treat the file as a leftover. A concurrent
                // opening may have been faster: then it holds the lock, or has already removed the name.
                var number = EINTR
                while number == EINTR {
                    number = flock(file.number, LOCK_EX | LOCK_NB) == 0 ? 0 : errno
                }
                guard number != EWOULDBLOCK,
                    folder.news.status(of: name)?.inode == file.status()?.inode
                else { continue }
                return NewFile(file: file, name: name)
            case .failure(let failure):
                throw FileStoreError("openat", path.string, .writeFailed, number: failure.number)
            }
        }
    }

    /// Labels a file whose bytes are complete, and waits for the disk.
    ///
    /// The label comes first: after the synchronization, it would require another one.
    private func finish(
        _ new: NewFile,
        _ path: FileStorePath,
        _ contentType: String,
        _ attributes: [String: String],
        _ checksum: FileChecksum
    ) throws(FileStoreError) -> FileMetadata? {
        guard let status = new.file.status() else {
            throw FileStoreError("fstat", path.string, .writeFailed, number: errno)
        }
        var metadata: FileMetadata?
        if keepsLabels {
            let label = FileLabel(
                version: FileLabel.newVersion(),
                contentType: contentType,
                attributes: attributes,
                checksum: checksum,
                status
            )
            let number = label.set(on: new.file)
            guard number == 0 else {
                throw FileStoreError("fsetxattr", path.string, .writeFailed, number: number)
            }
            metadata = self.metadata(path, status, label)
        }
        guard syncs else { return metadata }
        let number = new.file.sync()
        guard number == 0 else {
            throw FileStoreError("fsync", path.string, .writeFailed, number: number)
        }
        return metadata
    }

    /// Renames a file to its path if the condition on the existing file holds; `known` is the metadata of the new file,
    /// or nil if it has no label.
    private func publish(
        _ new: NewFile,
        _ path: FileStorePath,
        _ condition: FileCondition,
        _ known: FileMetadata?
    ) async throws(FileStoreError) -> FileMetadata {
        try await lock.hold { () throws(FileStoreError) in
            if condition != .none { try condition.check(path, try version(of: path)) }
            try name(new.name, in: folder.news, path)
            if let known { return known }
            // Renaming changes the time that is part of an unlabeled file's version.
            return metadata(path, try statusAfter(new.file, path), nil)
        }
    }

    /// Renames a file to its path, creating folders as needed, and synchronizes the folder if changes must last.
    private func name(
        _ oldName: String,
        in oldFolder: Descriptor,
        _ path: FileStorePath
    ) throws(FileStoreError) {
        do throws(FileStoreError) {
            let parent = try folder.makeWay(to: path, syncs: syncs)
            // A link, device or socket belongs to another program.
            if parent.status(of: path.name)?.kind == .other { throw LocalFolder.link(path) }
            var number: Int32 = 0
            for isSecond in [false, true] {
                number = oldFolder.rename(oldName, to: parent, path.name)
                // A folder without files does not block the name.
                guard !isSecond, [EISDIR, ENOTEMPTY, EEXIST].contains(number),
                    folder.removeIfEmpty(path.name, in: parent)
                else { break }
            }
            if [EISDIR, ENOTEMPTY, EEXIST].contains(number) { throw FileStoreError.taken(path) }
            guard number == 0 else {
                throw FileStoreError("renameat", path.string, .writeFailed, number: number)
            }
            if syncs { try LocalFolder.sync(parent, path) }
        } catch {
            if error.code != .unavailable { folder.removeEmptyFolders(above: path) }
            throw error
        }
    }

    private func statusAfter(
        _ file: Descriptor,
        _ path: FileStorePath
    ) throws(FileStoreError) -> FileStatus {
        if let status = file.status() { return status }
        throw FileStoreError(
            .unavailable,
            "The status of “\(path)” cannot be read; the change has taken effect.",
            cause: FileSystemError("fstat", path.string, number: errno)
        )
    }

    private func version(of path: FileStorePath) throws(FileStoreError) -> FileVersion? {
        guard let (file, status) = try folder.open(path) else { return nil }
        return metadata(path, status, FileLabel(of: file)).version
    }

    // MARK: Copying and moving

    public func transfer(
        _ request: FileTransferRequest
    ) async throws(FileStoreError) -> FileMetadata {
        if request.isMove { return try await move(request) }
        let reading = try await read(request.source, range: .all, ifVersion: nil)
        let options = FileWriteOptions(
            contentType: keepsLabels ? reading.metadata.contentType : nil,
            attributes: reading.metadata.attributes,
            condition: request.condition,
            checksum: reading.metadata.checksum
        )
        return try await write(reading.content, to: request.target, options: options)
    }

    private func move(
        _ request: FileTransferRequest
    ) async throws(FileStoreError) -> FileMetadata {
        let (source, target) = (request.source, request.target)
        return try await lock.hold { () throws(FileStoreError) in
            guard let (file, status) = try folder.open(source),
                case .folder(let old) = try folder.way(to: source)
            else { throw FileStoreError.notFound(source) }
            try request.condition.check(target, try version(of: target))
            if source == target { return metadata(target, status, FileLabel(of: file)) }
            // Moving frees the source's name, but the target must not need a folder of that name.
            guard !FileStoreFolder(source).contains(target) else {
                throw FileStoreError.taken(target)
            }
            let label = FileLabel(of: file)
            if var new = label {
                // The version must differ from any that the target has had.
                new.version = FileLabel.newVersion()
                _ = new.set(on: file)
                if syncs { _ = file.sync() }
            }
            do throws(FileStoreError) {
                try name(source.name, in: old, target)
            } catch {
                if error.code != .unavailable, let label {
                    _ = label.set(on: file)
                    if syncs { _ = file.sync() }
                }
                throw error
            }
            try removeSecondName(of: status, source, in: old, beside: target)
            if syncs { try LocalFolder.sync(old, source) }
            folder.removeEmptyFolders(above: source)
            return metadata(target, try statusAfter(file, target), FileLabel(of: file))
        }
    }

    /// Removes the name that a moved file still has, since rename(2) does nothing if both names are links to one file.
    private func removeSecondName(
        of file: FileStatus,
        _ path: FileStorePath,
        in parent: Descriptor,
        beside target: FileStorePath
    ) throws(FileStoreError) {
        // Both must be listed: on a volume that ignores case, both may find the only name of the file.
        guard parent.status(of: path.name)?.inode == file.inode, Self.lists(path.name, parent),
            case .folder(let other)? = try? folder.way(to: target), Self.lists(target.name, other)
        else { return }
        let number = parent.remove(path.name)
        guard number == 0 || number == ENOENT else {
            throw FileStoreError("unlinkat", path.string, .writeFailed, number: number)
        }
    }

    private static func lists(_ name: String, _ folder: Descriptor) -> Bool {
        guard case .success(let names) = folder.names() else { return false }
        return names.contains { $0.utf8.elementsEqual(name.utf8) }
    }

    public func delete(
        _ path: FileStorePath,
        if condition: FileCondition
    ) async throws(FileStoreError) -> Bool {
        try await lock.hold { () throws(FileStoreError) in
            try condition.check(path, try version(of: path))
            guard try folder.open(path) != nil, case .folder(let parent) = try folder.way(to: path)
            else { return false }
            let number = parent.remove(path.name)
            guard number == 0 else {
                if number == ENOENT { return false }
                throw FileStoreError("unlinkat", path.string, .writeFailed, number: number)
            }
            if syncs { try LocalFolder.sync(parent, path) }
            if let left = folder.removeEmptyFolders(above: path), syncs {
                try LocalFolder.sync(left, path)
            }
            return true
        }
    }
}
