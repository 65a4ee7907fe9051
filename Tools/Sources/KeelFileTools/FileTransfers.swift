package import Foundation
package import KeelFiles
package import KeelFilesS3
package import KeelHTTP
internal import KeelToolSupport

/// Copies files between this machine and buckets, and between buckets.
///
/// Each file is copied completely or not at all. The files of a folder are copied concurrently; once one has failed, no
/// more are started, and those in progress are completed.
package struct FileTransfers: Sendable {
    /// A file that was copied, or is to be copied.
    package struct Copied: Sendable {
        package let from: FilePlace
        package let to: FilePlace
        package let byteCount: Int
    }

    package struct Report: Sendable {
        package var fileCount = 0
        package var byteCount = 0
        /// Local entries that are not readable files, names that are invalid in a bucket, and files whose target is or
        /// is behind a link.
        package var skipped: [String] = []
        package var failures: [Failure] = []
        /// The error that ended the list of the files, if a file has failed, too.
        package var listFailure: (any Error)?
    }

    package struct Failure: Sendable {
        package let from: FilePlace
        package let error: any Error
    }

    package struct Options: Sendable {
        /// The content type of files written to a bucket; nil keeps that of a file of a bucket, and derives that of a
        /// local file from its name.
        ///
        /// A copy within a bucket always keeps it.
        package var contentType: String?
        /// Whether each source is removed once its copy is complete.
        package var isMove: Bool
        /// Whether a downloaded file gets the modification date of the bucket's file.
        package var keepsDates: Bool

        package init(
            contentType: String? = nil,
            isMove: Bool = false,
            keepsDates: Bool = false
        ) {
            self.contentType = contentType
            self.isMove = isMove
            self.keepsDates = keepsDates
        }
    }

    private let settings: BucketSettings
    private let transport: SendingTransport
    let clock: ServerClock
    /// Shared by all adapters, so that temporary credentials are requested once.
    private let credentials: AWSCredentialsChain
    private let unlisted = UnlistedKeys()

    /// Creates a service, in which `other` sends the requests for credentials, whose time limits do not suit a limited
    /// rate.
    package init(
        _ settings: BucketSettings,
        over transport: any HTTPTransport,
        credentialsOver other: (any HTTPTransport)? = nil,
        now: @escaping @Sendable () -> Date = { .now }
    ) {
        self.settings = settings
        clock = ServerClock(now: now)
        self.transport = SendingTransport(transport, clock)
        credentials = settings.credentials(over: other ?? transport)
    }

    /// The bytes that requests in progress still have to send, of bodies larger than 64 KiB.
    package var unsentByteCount: Int { transport.unsentByteCount }

    /// At most 100 keys that lists have left out because they are not valid file paths, and whether there were more.
    package var unlistedKeys: (keys: [String], hasMore: Bool) { unlisted.all }

    /// Returns the adapter of the bucket with a name.
    ///
    /// - Throws: `FileStoreError` for invalid settings, or `ToolError` if the provider needs an endpoint.
    package func adapter(_ name: String) throws -> S3FileStoreAdapter {
        try settings.adapter(name, credentials, over: transport, unlisted)
    }

    /// Copies a file, or with `isRecursive` all files of a folder and its subfolders.
    ///
    /// A file copied to a folder keeps its name. One task at a time calls `progress`, with the total progress and with
    /// each copied file. For a folder, its error for a copied file counts as that file's failure, and the result has
    /// all failures.
    ///
    /// - Throws: `FileStoreError`, or `ToolError` if the places do not fit together, a local folder cannot be read, or
    ///   a single file changes meanwhile; for a single file also the error of `progress`.
    package func copy(
        from: FilePlace,
        to: FilePlace,
        isRecursive: Bool,
        options: Options = Options(),
        progress: @escaping @Sendable (CopyProgress) throws -> Void = { _ in }
    ) async throws -> Report {
        guard isRecursive else {
            let meter = CopyMeter(one: from, progress)
            let target = try target(of: from, in: to)
            guard target != from else {
                throw ToolError(
                    "the source and the target are the same file",
                    advice: "Give another target."
                )
            }
            let count = try await transfer(from, target, options) { meter.update(from, $0) }
            try meter.finish(Copied(from: from, to: target, byteCount: count))
            return meter.report
        }
        try refuseOverlap(of: from, and: to)
        switch from {
        case .local(let path):
            let tree = try LocalTree(path)
            try tree.requireReadable()
            let isNamed = { (names: String) in (try? FileStorePath(names)) != nil }
            let files = tree.files.filter { isNamed($0.names) }
            let meter = CopyMeter(
                fileCount: files.count,
                byteCount: files.reduce(0) { $0 + $1.byteCount },
                progress
            )
            var rest = files.makeIterator()
            var report = try await copyEach(meter, options) {
                rest.next().map { (from.appending($0.names), to.appending($0.names)) }
            }
            report.skipped =
                tree.skipped + tree.files.map(\.names).filter { !isNamed($0) }
            return report
        case .bucket(let name, let key):
            let folder = try folder(key)
            let start = folder.path.map { $0.string.utf8.count + 1 } ?? 0
            var files = FileStore(try adapter(name)).files(in: folder).makeAsyncIterator()
            var skipped: [String] = []
            var report = try await copyEach(CopyMeter(progress), options) {
                while let path = try await files.next()?.path.string {
                    let names = String(Substring(path.utf8.dropFirst(start)))
                    if case .local(let folder) = to, LocalTree.isBehindLink(names, in: folder) {
                        skipped.append(names)
                        continue
                    }
                    return (.bucket(name: name, key: path), to.appending(names))
                }
                return nil
            }
            report.skipped = skipped
            return report
        }
    }

    /// Deletes all files of a folder and its subfolders, page by page; of the whole bucket for an empty key.
    ///
    /// Returns the number of files deleted, which `progress` receives after each page.
    ///
    /// - Throws: The first `FileStoreError`, once the other files of its page have been tried.
    package func deleteAll(
        of bucket: String,
        in key: String,
        progress: (Int) -> Void = { _ in }
    ) async throws -> Int {
        let (adapter, folder) = (try self.adapter(bucket), try self.folder(key))
        var (count, next) = (0, FileCursor?.none)
        repeat {
            let page = try await FileStore(adapter).list(in: folder, after: next)
            let results = await adapter.deleteEach(page.files.map(\.path))
            count += results.count { (try? $0.get()) == true }
            progress(count)
            for result in results { _ = try result.get() }
            next = page.next
        } while next != nil
        return count
    }

    /// Copies files concurrently until one fails or `next` throws, whose error is thrown once the files in progress are
    /// completed, or is in the report if one of them has failed.
    func copyEach(
        _ meter: CopyMeter,
        _ options: Options,
        _ next: () async throws -> (from: FilePlace, to: FilePlace)?
    ) async throws -> Report {
        try await withThrowingTaskGroup(
            of: (from: FilePlace, result: Result<Void, any Error>).self
        ) { group in
            var failures: [Failure] = []
            var listFailure: (any Error)?
            var running = 0
            var pair = try await next()
            while running > 0 || pair != nil {
                // A file can have failed while `next` waited for a page of a list.
                if let (from, to) = pair, running < settings.parallelFileCount, !meter.hasFailed {
                    running += 1
                    group.addTask {
                        do {
                            if case .local(let path) = to { try LocalTree.makeFolder(above: path) }
                            let count = try await transfer(from, to, options) {
                                meter.update(from, $0)
                            }
                            try meter.finish(Copied(from: from, to: to, byteCount: count))
                            return (from, .success(()))
                        } catch {
                            meter.fail()
                            return (from, .failure(error))
                        }
                    }
                    do {
                        pair = try await next()
                    } catch {
                        pair = nil
                        listFailure = error
                    }
                    continue
                }
                guard let ended = try await group.next() else { break }
                running -= 1
                guard case .failure(let error) = ended.result else { continue }
                // A canceled command reports that instead of each file.
                if Task.isCancelled { throw error }
                failures.append(Failure(from: ended.from, error: error))
                pair = nil
            }
            if let listFailure, failures.isEmpty { throw listFailure }
            var report = meter.report
            report.failures = failures
            report.listFailure = listFailure
            return report
        }
    }

    /// Returns the folder of a key, with or without a final `/`; the whole bucket for an empty key.
    ///
    /// - Throws: `FileStoreError` for an invalid path.
    package func folder(_ key: String) throws -> FileStoreFolder {
        let path = key.utf8.last == UInt8(ascii: "/") ? String(Substring(key.utf8.dropLast())) : key
        return path.isEmpty ? .root : FileStoreFolder(try FileStorePath(path))
    }

    // MARK: One file

    private func target(of from: FilePlace, in to: FilePlace) throws -> FilePlace {
        let name: String
        switch from {
        case .local(let path):
            guard !LocalTree.isFolder(path) else {
                throw ToolError(
                    "“\(path)” is a folder",
                    advice: "Add --recursive to copy all files in it."
                )
            }
            name = URL(filePath: path).lastPathComponent
        case .bucket(_, let key):
            guard !key.isEmpty, key.utf8.last != UInt8(ascii: "/") else {
                throw ToolError(
                    "“\(from)” is a folder",
                    advice: "Add --recursive to copy all files in it."
                )
            }
            name = try FileStorePath(key).name
        }
        switch to {
        case .local(let path):
            return path.hasSuffix("/") || LocalTree.isFolder(path) ? to.appending(name) : to
        case .bucket(_, let key):
            return key.isEmpty || key.utf8.last == UInt8(ascii: "/") ? to.appending(name) : to
        }
    }
}
