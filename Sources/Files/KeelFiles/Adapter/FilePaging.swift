extension FilePage {
    package enum Item {
        case file(FileSummary)
        case folder(FileStoreFolder)

        /// The sort key; that of a folder ends with “/”, like the beginnings of its files' paths.
        package var key: String {
            switch self {
            case .file(let file): file.path.string
            case .folder(let folder): folder.prefix
            }
        }
    }

    /// Creates the requested page of a complete list of files in any order, for adapters whose store lists all files at
    /// once.
    public init(of files: [FileSummary], for request: FileListRequest) {
        let files = files.filter { request.folder.contains($0.path) }
        let items = request.isRecursive ? files.map(Item.file) : Self.items(files, request.folder)
        let behind = items.filter { item in
            request.after.map { FilePaging.precedes($0.string, item.key) } ?? true
        }
        self.init(first: request.limit, of: behind)
    }

    /// Creates the page of the first of `items`, in any order; `isCutOff` if the store has more behind them.
    package init(first limit: Int, of items: [Item], isCutOff: Bool = false) {
        let page = items.sorted { FilePaging.precedes($0.key, $1.key) }.prefix(limit)
        self.init(
            files: page.compactMap { if case .file(let file) = $0 { file } else { nil } },
            folders: page.compactMap { if case .folder(let folder) = $0 { folder } else { nil } },
            next: items.count > page.count || isCutOff
                ? page.last.map { FileCursor($0.key) } : nil
        )
    }

    private static func items(_ files: [FileSummary], _ folder: FileStoreFolder) -> [Item] {
        var items: [Item] = []
        var folders: Set<FileStorePath> = []
        let start = folder.prefix.utf8.count
        for file in files {
            let rest = file.path.string.utf8.dropFirst(start)
            guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else {
                items.append(.file(file))
                continue
            }
            let path = FileStorePath(unchecked: String(file.path.string[..<slash]))
            if folders.insert(path).inserted { items.append(.folder(FileStoreFolder(path))) }
        }
        return items
    }
}

package enum FilePaging {
    /// Returns whether a path precedes another one in byte order.
    package static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}
