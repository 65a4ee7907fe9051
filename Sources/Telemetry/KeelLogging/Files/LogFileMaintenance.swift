#if Logging

internal import KeelCore
internal import KeelZlib

/// Compresses rotated log files and deletes those beyond the limits, in one process at a time.
///
/// A crash loses nothing: a compressed file gets its name once it is on disk, and the plain file is deleted after that.
/// If both exist, the plain file is compressed again.
struct LogFileMaintenance: Sendable {
    let names: LogFileNames
    let configuration: LogFileConfiguration
    let files: any FileSystem
    let now: @Sendable () -> Int64

    private static let pieceByteCount = 64 << 10

    var isNeeded: Bool {
        configuration.compresses || configuration.countLimit != nil
            || configuration.totalByteLimit != nil || configuration.ageLimit != nil
    }

    func run() {
        do throws(FileSystemError) {
            let lock = try files.lock(names.workLock)
            // Without room for a compressed file, the limits still hold.
            if configuration.compresses { try? compress() }
            try removeBeyondLimits()
            withExtendedLifetime(lock) {}
        } catch {
            // Another process is at work, or the disk fails; the next rotation tries again.
        }
    }

    private func rotated() throws(FileSystemError) -> [RotatedLogFile] {
        names.rotated(among: try files.names(in: names.folder))
    }

    // MARK: Compressing

    private func compress() throws(FileSystemError) {
        for file in try rotated() where file.hasPlain {
            do throws(FileSystemError) {
                try compress(file)
            } catch {
                try? files.remove(names.path(of: file.partName))
                // A file that another process still writes to is skipped.
                guard error.kind == .busy || error.kind == .notFound else { throw error }
            }
        }
    }

    private func compress(_ file: RotatedLogFile) throws(FileSystemError) {
        let (plain, part) = (names.path(of: file.name), names.path(of: file.partName))
        let source = try files.open(plain, for: .reading)
        // Fails while any process has the file open for writing.
        let lock = try files.lock(plain)
        if try files.size(of: part) != nil { try files.remove(part) }
        let target = try files.open(part, for: .creating)
        let stream = DeflateStream()
        var (read, written, isAtEnd) = (0, 0, false)
        while !isAtEnd {
            let piece = try source.read(at: read, count: Self.pieceByteCount)
            isAtEnd = piece.count < Self.pieceByteCount
            guard let bytes = stream.deflate(piece[...]),
                let end = isAtEnd ? stream.deflate(nil) : []
            else { return try files.remove(part) }
            try target.write(bytes + end, at: written)
            read += piece.count
            written += bytes.count + end.count
        }
        try target.sync()
        try files.rename(part, to: names.path(of: file.compressedName))
        try files.syncFolder(names.folder)
        try files.remove(plain)
        withExtendedLifetime(lock) {}
    }

    // MARK: Limits

    private func removeBeyondLimits() throws(FileSystemError) {
        var rotated = try rotated()
        if let limit = configuration.ageLimit?.microseconds,
            let time = CertainTime.oldest(
                within: limit,
                at: now(),
                notedIn: names.time,
                files
            )
        {
            let oldest = LogFileNames.stamp(of: time)
            while let first = rotated.first, first.time < oldest {
                try remove(rotated.removeFirst())
            }
        }
        if let limit = configuration.countLimit {
            while rotated.count > limit { try remove(rotated.removeFirst()) }
        }
        guard let limit = configuration.totalByteLimit else { return }
        // The current file may grow to its limit before the next maintenance.
        let active = try files.size(of: names.path) ?? 0
        var total = max(active, configuration.byteLimit ?? 0)
        var sizes: [Int] = []
        for file in rotated { sizes.append(try size(of: file)) }
        total += sizes.reduce(0, +)
        for (file, size) in zip(rotated, sizes) where total > limit {
            try remove(file)
            total -= size
        }
    }

    private func size(of file: RotatedLogFile) throws(FileSystemError) -> Int {
        var size = 0
        for name in [file.name, file.compressedName] {
            size += try files.size(of: names.path(of: name)) ?? 0
        }
        return size
    }

    private func remove(_ file: RotatedLogFile) throws(FileSystemError) {
        for name in [file.partName, file.compressedName, file.name] {
            let path = names.path(of: name)
            if try files.size(of: path) != nil { try files.remove(path) }
        }
    }
}

#endif
