extension FileStore {
    /// Lists the files of a folder, a page at a time.
    ///
    /// - Parameters:
    ///   - folder: The folder.
    ///   - isRecursive: Whether files in folders inside of it are listed too; otherwise the folders
    ///     are.
    ///   - after: ``FilePage/next`` of the page before; nil begins.
    ///   - limit: How many files and folders a page has at most, 1 to
    ///     ``FileListRequest/maximumLimit``.
    /// - Returns: The page, in the order of the paths' bytes. A folder without files is empty.
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
                "A page has 1 to \(FileListRequest.maximumLimit) files, not \(limit)."
            )
        }
        try FileStoreError.checkCancellation()
        return try await adapter.list(
            FileListRequest(in: folder, isRecursive: isRecursive, after: after, limit: limit)
        )
    }

    /// All files of a folder and of the folders inside of it, page after page as they are read.
    ///
    /// - Parameters:
    ///   - folder: The folder.
    ///   - pageSize: How many files are asked for at a time.
    /// - Returns: The files, in the order of the paths' bytes.
    public func files(
        in folder: FileStoreFolder = .root,
        pageSize: Int = FileListRequest.maximumLimit
    ) -> FileSequence {
        FileSequence(store: self, folder: folder, pageSize: pageSize)
    }

    /// Removes all files of a folder and of the folders inside of it.
    ///
    /// Files are removed by the page, a thousand with one request where the store can do that. After an
    /// error some are gone. A file that is put meanwhile may stay.
    ///
    /// - Parameter folder: The folder.
    /// - Returns: How many files there were.
    /// - Throws: ``FileStoreError``: the first one, once the other files of its page have been tried.
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

/// Files of a folder, asked for page after page.
public struct FileSequence: AsyncSequence, Sendable {
    public typealias Element = FileSummary
    public typealias Failure = FileStoreError

    fileprivate let store: FileStore
    fileprivate let folder: FileStoreFolder
    fileprivate let pageSize: Int

    /// Reads files.
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
