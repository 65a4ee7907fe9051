package import Foundation

/// The entered lines, in a file that only its owner may read.
package struct LineHistory: Sendable {
    /// The maximum number of ``lines``; a file with more than twice as many is shortened when it is read.
    package static let capacity = 1000

    /// The lines, oldest first.
    package private(set) var lines: [String] = []
    /// The reason why a line could not be stored; nil without such a failure.
    package private(set) var problem: String?
    private let file: URL?

    /// Reads the history of earlier runs; without a file, lines are only kept in memory.
    package init(in file: URL?) {
        self.file = file
        guard let file else { return }
        guard let data = try? Data(contentsOf: file) else { return }
        let all = Self.lines(of: data)
        lines = all.suffix(Self.capacity)
        // Rewritten occasionally, so that the file does not grow without limit.
        if all.count > 2 * Self.capacity { rewrite(file) }
    }

    private static func lines(of data: Data) -> [String] {
        String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Adds a line, unless it is empty, begins with a space, or equals the last line.
    ///
    /// A line that cannot be stored is kept in memory.
    package mutating func add(_ line: String) {
        guard let first = line.first, first != " ", lines.last != line else { return }
        lines.append(line)
        if lines.count > Self.capacity { lines.removeFirst() }
        guard let file else { return }
        do {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            guard let handle = Self.locked(file) else {
                problem = "“\(file.path)” cannot be written: \(String(cString: strerror(errno)))"
                return
            }
            // The file may have existed with wider permissions.
            fchmod(handle.fileDescriptor, 0o600)
            try handle.write(contentsOf: Array("\(line)\n".utf8))
        } catch {
            problem = "“\(file.path)” cannot be written: \(error.localizedDescription)"
        }
    }

    /// Opens the file, and locks it against other shells until it is closed.
    private static func locked(_ file: URL) -> FileHandle? {
        for _ in 0..<100 {
            let flags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC
            let descriptor = open(file.path, flags, 0o600)
            guard descriptor >= 0 else { return nil }
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            // Some file systems have no locks.
            guard flock(descriptor, LOCK_EX) == 0 else { return handle }
            var (own, present) = (stat(), stat())
            guard fstat(descriptor, &own) == 0 else { return handle }
            // Another shell may have replaced the file.
            if stat(file.path, &present) == 0, own.st_ino == present.st_ino { return handle }
        }
        // Some file systems give a file another number each time.
        errno = EAGAIN
        return nil
    }

    private mutating func rewrite(_ file: URL) {
        guard let handle = Self.locked(file), let data = try? handle.readToEnd() else { return }
        defer { withExtendedLifetime(handle) {} }
        // With the lines that other shells have added meanwhile.
        lines = Self.lines(of: data).suffix(Self.capacity)
        let part = file.appendingPathExtension("new")
        let text = lines.map { "\($0)\n" }.joined()
        guard
            FileManager.default.createFile(
                atPath: part.path,
                contents: Data(text.utf8),
                attributes: [.posixPermissions: 0o600]
            )
        else { return }
        if rename(part.path, file.path) != 0 { try? FileManager.default.removeItem(at: part) }
    }
}
