extension FileStore {
    /// Returns a page of the files in a folder.
    ///
    /// - Parameters:
    ///   - folder: The folder.
    ///   - isRecursive: Whether to list the files in subfolders, instead of the subfolders themselves.
    ///   - after: ``FilePage/next`` of the previous page; nil for the first page.
    ///   - limit: The maximum number of files and folders in the page, from 1 to ``FileListRequest/maximumLimit``.
    /// - Returns: The page, in byte order of the paths; empty for a folder without files.
    /// - Throws: ``FileStoreError``, with the code `invalidArgument` for another limit.
    @concurrent
    public func list(
        in folder: FileStoreFolder = .root,
        isRecursive: Bool = true,
        after: FileCursor? = nil,
        limit: Int = FileListRequest.maximumLimit
    ) async throws(FileStoreError) -> FilePage {
        try folder.check()
        guard (1...FileListRequest.maximumLimit).contains(limit) else {
            throw FileStoreError(
                .invalidArgument,
                "A page must have 1 to \(FileListRequest.maximumLimit) files, not \(limit)."
            )
        }
        try FileStoreError.checkCancellation()
        return try await adapter.list(
            FileListRequest(in: folder, isRecursive: isRecursive, after: after, limit: limit)
        )
    }

    /// Returns all files in a folder and its subfolders, in byte order of the paths, in pages of `pageSize` files.
    public func files(
        in folder: FileStoreFolder = .root,
        pageSize: Int = FileListRequest.maximumLimit
    ) -> FileSequence {
        FileSequence(store: self, folder: folder, pageSize: pageSize)
    }

    /// Removes all files in a folder and its subfolders.
    ///
    /// Files are removed page by page, with one request per thousand files if the store supports that. A file that is
    /// written meanwhile can remain.
    ///
    /// - Returns: The number of files removed.
    /// - Throws: The first ``FileStoreError``; some files are then gone. A store that removes many files with one
    ///   request has tried the others of that page, and any other store has not.
    @discardableResult @concurrent
    public func deleteAll(in folder: FileStoreFolder) async throws(FileStoreError) -> Int {
        var count = 0
        var next: FileCursor?
        repeat {
            let page = try await list(in: folder, after: next)
            var failure: FileStoreError?
            for result in await adapter.deleteEach(page.files.map(\.path)) {
                switch result {
                case .success(let wasThere): count += wasThere ? 1 : 0
                case .failure(let error): failure = failure ?? error
                }
            }
            if let failure { throw failure }
            next = page.next
        } while next != nil
        return count
    }
}

/// The files of a folder, loaded page by page.
public struct FileSequence: AsyncSequence, Sendable {
    public typealias Element = FileSummary
    public typealias Failure = FileStoreError

    fileprivate let store: FileStore
    fileprivate let folder: FileStoreFolder
    fileprivate let pageSize: Int

    /// The iterator of the files.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        private let files: FileSequence
        private var page: ArraySlice<FileSummary> = []
        private var next: FileCursor?
        private var isLast = false

        fileprivate init(_ files: FileSequence) { self.files = files }

        public mutating func next() async throws(FileStoreError) -> FileSummary? {
            while page.isEmpty {
                if isLast { return nil }
                let page = try await files.store.list(
                    in: files.folder,
                    after: next,
                    limit: files.pageSize
                )
                self.page = page.files[...]
                next = page.next
                isLast = page.next == nil
            }
            return page.popFirst()
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(FileStoreError) -> FileSummary? {
            try await next()
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
