internal import Foundation
package import KeelFiles
package import KeelFilesS3
package import KeelHTTP
internal import KeelToolSupport

/// Copies files between the machine and buckets, and between buckets.
///
/// Each file is there whole or not at all. Of a folder, several files are on their way at a time; after
/// an error no more are begun, and those on their way are brought to their end.
package struct FileTransfers: Sendable {
    /// A file that was copied.
    package struct Copied: Sendable {
        package let from: FilePlace
        package let to: FilePlace
        package let byteCount: Int
    }

    /// What was done.
    package struct Report: Sendable {
        package var fileCount = 0
        package var byteCount = 0
        /// What is neither a file nor a folder, or has no name that a bucket can keep.
        package var leftOut: [String] = []
        /// What was not copied, and why.
        package var failures: [Failure] = []
    }

    /// A file that was not copied.
    package struct Failure: Sendable {
        package let from: FilePlace
        package let error: any Error
    }

    private let settings: BucketSettings
    private let transport: any HTTPTransport

    /// Prepares.
    ///
    /// - Parameters:
    ///   - settings: How buckets are reached.
    ///   - transport: What carries the requests.
    package init(_ settings: BucketSettings, over transport: any HTTPTransport) {
        self.settings = settings
        self.transport = transport
    }

    /// The bucket of a place.
    ///
    /// - Parameter name: The bucket's name.
    /// - Returns: Its adapter.
    /// - Throws: `FileStoreError` where the settings cannot be right.
    package func adapter(_ name: String) throws -> S3FileStoreAdapter {
        try settings.adapter(name, over: transport)
    }

    /// Copies a file, or all files of a folder.
    ///
    /// - Parameters:
    ///   - from: What to copy.
    ///   - to: Where to. A file copied to a folder keeps its name.
    ///   - isRecursive: Whether a folder is copied, with the folders inside of it.
    ///   - progress: Is told how far all of it has come, and of each file that was copied, by one
    ///     task at a time.
    /// - Returns: What was done. Of a folder, an error of a file is a failure in it.
    /// - Throws: `FileStoreError`, or `ToolError` where the places do not fit together.
    package func copy(
        from: FilePlace,
        to: FilePlace,
        isRecursive: Bool,
        progress: @escaping @Sendable (CopyProgress) throws -> Void = { _ in }
    ) async throws -> Report {
        guard isRecursive else {
            let meter = CopyMeter(one: from, progress)
            let target = try target(of: from, in: to)
            let count = try await copyFile(from, target) { meter.update(from, $0) }
            try meter.finish(Copied(from: from, to: target, byteCount: count))
            return meter.report
        }
        switch from {
        case .machine(let path):
            let tree = try MachineTree(path)
            let isNamed = { (names: String) in (try? FileStorePath(names)) != nil }
            let files = tree.files.filter { isNamed($0.names) }
            let meter = CopyMeter(
                fileCount: files.count,
                byteCount: files.reduce(0) { $0 + $1.byteCount },
                progress
            )
            var rest = files.makeIterator()
            var report = try await copyEach(meter) {
                rest.next().map { (from.appending($0.names), to.appending($0.names)) }
            }
            report.leftOut =
                tree.leftOut + tree.files.map(\.names).filter { !isNamed($0) }
            return report
        case .bucket(let name, let key):
            let folder = try folder(key)
            let start = folder.path.map { $0.string.utf8.count + 1 } ?? 0
            var files = FileStore(try adapter(name)).files(in: folder).makeAsyncIterator()
            return try await copyEach(CopyMeter(progress)) {
                guard let path = try await files.next()?.path.string else { return nil }
                let target = to.appending(String(Substring(path.utf8.dropFirst(start))))
                if case .machine(let path) = target { try MachineTree.makeFolder(above: path) }
                return (.bucket(name: name, key: path), target)
            }
        }
    }

    /// Copies files, some at a time, until one fails.
    private func copyEach(
        _ meter: CopyMeter,
        _ next: () async throws -> (from: FilePlace, to: FilePlace)?
    ) async throws -> Report {
        try await withThrowingTaskGroup(
            of: (from: FilePlace, result: Result<Void, any Error>).self
        ) { group in
            var failures: [Failure] = []
            var running = 0
            var pair = try await next()
            while running > 0 || pair != nil {
                if let (from, to) = pair, running < settings.parallelFileCount {
                    running += 1
                    group.addTask {
                        do {
                            let count = try await copyFile(from, to) { meter.update(from, $0) }
                            try meter.finish(Copied(from: from, to: to, byteCount: count))
                            return (from, .success(()))
                        } catch {
                            return (from, .failure(error))
                        }
                    }
                    pair = try await next()
                    continue
                }
                guard let ended = try await group.next() else { break }
                running -= 1
                guard case .failure(let error) = ended.result else { continue }
                // Whoever cancels the command is told of that and not of each file.
                if Task.isCancelled { throw error }
                failures.append(Failure(from: ended.from, error: error))
                pair = nil
            }
            var report = meter.report
            report.failures = failures
            return report
        }
    }

    /// The folder that a key names, with or without `/` at its end.
    ///
    /// - Parameter key: The key; empty is the whole bucket.
    /// - Returns: The folder.
    /// - Throws: `FileStoreError` for a key that is no path.
    package func folder(_ key: String) throws -> FileStoreFolder {
        let path = key.utf8.last == UInt8(ascii: "/") ? String(Substring(key.utf8.dropLast())) : key
        return path.isEmpty ? .root : FileStoreFolder(try FileStorePath(path))
    }

    // MARK: One file

    /// The place of the copy of a file.
    private func target(of from: FilePlace, in to: FilePlace) throws -> FilePlace {
        let name: String
        switch from {
        case .machine(let path):
            guard !MachineTree.isFolder(path) else {
                throw ToolError(
                    "“\(path)” is a folder",
                    advice: "Give --recursive to copy all files in it."
                )
            }
            name = URL(filePath: path).lastPathComponent
        case .bucket(_, let key):
            guard !key.isEmpty, key.utf8.last != UInt8(ascii: "/") else {
                throw ToolError(
                    "“\(from)” is a folder",
                    advice: "Give --recursive to copy all files in it."
                )
            }
            name = try FileStorePath(key).name
        }
        switch to {
        case .machine(let path):
            return path.hasSuffix("/") || MachineTree.isFolder(path) ? to.appending(name) : to
        case .bucket(_, let key):
            return key.isEmpty || key.utf8.last == UInt8(ascii: "/") ? to.appending(name) : to
        }
    }

    private func copyFile(
        _ from: FilePlace,
        _ to: FilePlace,
        _ progress: @escaping @Sendable (FileProgress) -> Void
    ) async throws -> Int {
        switch (from, to) {
        case (.machine(let path), .bucket(let name, let key)):
            return try await FileStore(adapter(name)).put(
                contentsOf: URL(filePath: path),
                at: FileStorePath(key),
                progress: progress
            ).size
        case (.bucket(let name, let key), .machine(let path)):
            return try await FileStore(adapter(name)).download(
                FileStorePath(key),
                to: URL(filePath: path),
                progress: progress
            ).size
        case (.bucket(let name, let key), .bucket(let other, let target)):
            let source = FileStore(try adapter(name))
            if name == other {
                // The server copies: not a byte passes this machine.
                return try await source.copy(FileStorePath(key), to: FileStorePath(target)).size
            }
            let reading = try await source.open(FileStorePath(key))
            let options = FileWriteOptions(
                contentType: reading.metadata.contentType,
                attributes: reading.metadata.attributes
            )
            return try await FileStore(adapter(other)).put(
                reading.content,
                at: FileStorePath(target),
                options: options,
                progress: progress
            ).size
        case (.machine, .machine):
            throw ToolError(
                "neither place is a bucket",
                advice: "Name a bucket as s3://BUCKET/KEY; for files of the machine there is cp."
            )
        }
    }
}
