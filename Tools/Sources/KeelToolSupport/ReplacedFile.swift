package import Foundation

/// A file that appears under its name only when it is complete.
package struct ReplacedFile {
    package let target: URL
    /// The unfinished file, in the same folder.
    package let part: URL
    private let handle: FileHandle
    private var buffer: [UInt8] = []

    /// Creates the unfinished file.
    ///
    /// - Parameters:
    ///   - target: The path of the finished file.
    ///   - suffix: The suffix of the unfinished file.
    ///   - isPrivate: Whether only its owner may read it; ``finish()`` keeps the permissions of an existing file.
    /// - Throws: ``ToolError`` if the file cannot be created, or the target is a pipe or a device.
    package init(_ target: URL, suffix: String = "part", isPrivate: Bool = false) throws {
        try SpecialFile.refuseWriting(target.path)
        self.target = target
        let run = String(UInt64.random(in: .min ... .max), radix: 36)
        // A name has at most 255 bytes.
        var name = target.lastPathComponent
        while name.utf8.count > 200 { name.removeLast() }
        part = target.deletingLastPathComponent().appending(path: ".\(name).\(run).\(suffix)")
        // Never what another run writes, nor where a link leads; and never readable for a moment, which the file to be
        // replaced may not be either.
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let isHidden = isPrivate || access(target.path, F_OK) == 0
        let descriptor = open(part.path, flags, isHidden ? 0o600 : 0o666)
        guard descriptor >= 0 else {
            throw ToolError(
                "“\(target.path)” cannot be written: \(Self.reason())",
                advice: "Give a file in a folder that exists and that you may write to."
            )
        }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    package mutating func append(line: [UInt8]) throws {
        buffer += line
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count > 1 << 18 { try flush() }
    }

    package mutating func append(_ bytes: Data) throws {
        try flush()
        try write(bytes)
    }

    package mutating func flush() throws {
        try write(buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    /// Gives the file its name.
    ///
    /// - Throws: ``ToolError`` if another file has the name, or the file cannot be written; the unfinished file may
    ///   remain.
    package mutating func finishNew() throws {
        try close()
        // A link is refused where a rename would replace.
        if link(part.path, target.path) == 0 {
            discard()
            return syncFolder()
        }
        guard errno != EEXIST else { throw taken }
        // A disk without such links: the name is taken by an empty file first.
        let place = open(target.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard place >= 0 else {
            throw errno == EEXIST ? taken : unwritable
        }
        _ = Foundation.close(place)
        do {
            try rename()
        } catch {
            try? FileManager.default.removeItem(at: target)
            throw error
        }
    }

    /// Gives the file its name, and the permissions of the file that it replaces.
    ///
    /// - Throws: An error if the file cannot be written; the unfinished file may remain.
    package mutating func finish() throws {
        try keepAccess()
        try close()
        try rename()
    }

    package func discard() { try? FileManager.default.removeItem(at: part) }

    // MARK: Parts

    /// Gives the file the permissions of the replaced one, and its group and owner if that is allowed.
    private func keepAccess() throws {
        var status = stat()
        guard stat(target.path, &status) == 0 else { return }
        let descriptor = handle.fileDescriptor
        // In two calls: any member of a group may give it a file, but only root may change the owner.
        let isOfGroup = fchown(descriptor, uid_t.max, status.st_gid) == 0
        _ = fchown(descriptor, status.st_uid, gid_t.max)
        // Another group does not get the permissions of this one.
        let mode = status.st_mode & (isOfGroup ? 0o7777 : 0o5707)
        var own = stat()
        // A disk on which all files have the same permissions may refuse to set them.
        guard fstat(descriptor, &own) != 0 || own.st_mode & 0o7777 != mode else { return }
        guard fchmod(descriptor, mode) == 0 else { throw unwritable }
    }

    private func write(_ bytes: some DataProtocol) throws {
        let name = "“\(target.path)”"
        try StandardOutput.write(bytes, to: handle.fileDescriptor, named: name)
    }

    private mutating func close() throws {
        try flush()
        try handle.synchronize()
        try handle.close()
    }

    private func rename() throws {
        guard Foundation.rename(part.path, target.path) == 0 else {
            let error = unwritable
            discard()
            throw error
        }
        syncFolder()
    }

    /// Makes the new name survive a power failure, if the disk supports that.
    private func syncFolder() {
        let folder = open(target.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        _ = fsync(folder)
        _ = Foundation.close(folder)
    }

    private var taken: ToolError {
        ToolError(
            "“\(target.path)” already exists",
            advice: "Give another file, or move this one."
        )
    }

    private var unwritable: ToolError {
        ToolError(
            "“\(target.path)” cannot be written: \(Self.reason())",
            advice: "Check whether it is a folder, and the permissions of the folder around it."
        )
    }

    private static func reason() -> String { String(cString: strerror(errno)) }
}
