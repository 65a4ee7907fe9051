internal import KeelCore
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#endif
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// An adapter that keeps files in a folder on disk.
///
/// A file is written to a temporary name and renamed once it is complete: after a crash, the old file or the new one is
/// there, and the next opening removes the remains of unfinished writes. Links below the folder are never followed, so
/// neither a path nor another program can lead a call out of it. Several processes can share a folder. Files that other
/// programs put there are files of the store as well.
///
/// The content type, the attributes and a checksum are stored in an extended attribute of the file. On a volume without
/// extended attributes, content types follow from the extension, files have no checksum, and writing a file with a
/// given content type or attributes fails with `unsupported`. A folder named `.keel-files` is reserved for the store.
public final class LocalFileStoreAdapter: FileStoreAdapter {
    /// The configuration of a local store.
    public struct Configuration: Hashable, Sendable {
        /// How much a change survives when its call has returned.
        public enum Durability: Hashable, Sendable {
            /// The change survives the end of the process. A power failure can undo it, and truncate files that were
            /// written shortly before.
            case process
            /// The change also survives a power failure: each change waits for the disk.
            case power
        }

        /// How much a change survives when its call has returned.
        public var durability = Durability.power
        /// Whether reading a whole file verifies its checksum, and fails with `damaged` at the end if it differs.
        public var verifiesChecksums = true

        /// Creates the default configuration.
        public init() {}
    }

    let configuration: Configuration
    let folder: LocalFolder
    let lock: StoreLock
    let names: ListedNames
    let keepsLabels: Bool
    let path: String

    /// Opens a folder, creating it if it does not exist.
    ///
    /// - Throws: ``FileStoreError``: `permissionDenied`, `diskFull`, `readFailed` or `writeFailed`.
    public convenience init(
        folder path: String,
        configuration: Configuration = Configuration()
    ) throws(FileStoreError) {
        try self.init(folder: path, configuration: configuration, trace: nil)
    }

    package convenience init(
        folder path: String,
        configuration: Configuration = Configuration(),
        trace: FolderTrace?
    ) throws(FileStoreError) {
        try self.init(
            folder: path,
            configuration: configuration,
            trace: trace,
            names: ListedNames()
        )
    }

    init(
        folder path: String,
        configuration: Configuration = Configuration(),
        trace: FolderTrace? = nil,
        names: ListedNames,
        clock: any Clock<Duration> = ContinuousClock()
    ) throws(FileStoreError) {
        self.configuration = configuration
        self.names = names
        self.path = path
        do throws(FileSystemError) {
            try DiskFileSystem().makeFolder(path)
        } catch {
            throw FileStoreError(error.call, path, .writeFailed, number: error.number)
        }
        let root = try Self.openFolder(path, trace)
        if configuration.durability == .power {
            // The entry of the folder itself must survive as well, as far as the parent folders may be opened.
            var above = path
            while let slash = above.lastIndex(of: "/"), slash != above.startIndex {
                above = String(above[..<slash])
                try? DiskFileSystem().syncFolder(above)
            }
        }
        let own = try Self.makeFolder(FileStorePath.reservedName, in: root, path)
        let news = try Self.makeFolder("new", in: own, path)
        let lockFile = try Self.opened(own.open("lock", O_RDWR | O_CREAT), path)
        lock = StoreLock(
            lockFile,
            path: "\(path)/\(FileStorePath.reservedName)/lock",
            clock: clock
        )
        folder = LocalFolder(root: root, news: news)
        keepsLabels = Self.probeLabels(lockFile)
        if configuration.durability == .power {
            _ = own.sync()
            _ = root.sync()
        }
        removeLeftovers()
    }

    public var capabilities: FileStoreCapabilities {
        var capabilities: FileStoreCapabilities = [
            .persistent, .conditionsAcrossProcesses, .distinctVersions,
        ]
        if configuration.durability == .power { capabilities.insert(.survivesPowerFailure) }
        if keepsLabels { capabilities.insert(.attributes) }
        if distinguishesCase { capabilities.insert(.distinguishesCase) }
        #if os(Linux)
        capabilities.insert(.watching)
        #endif
        return capabilities
    }

    /// Whether the volume treats `new` and `NEW` as two names.
    private var distinguishesCase: Bool {
        var here = stat()
        var there = stat()
        let own = path + "/" + FileStorePath.reservedName
        guard stat(own + "/new", &here) == 0, stat(own + "/NEW", &there) == 0 else { return true }
        return here.st_ino != there.st_ino
    }

    // MARK: Reading

    public func metadata(
        of path: FileStorePath
    ) async throws(FileStoreError) -> FileMetadata? {
        guard let (file, status) = try folder.open(path) else { return nil }
        return metadata(path, status, FileLabel(of: file))
    }

    public func read(
        _ path: FileStorePath,
        range: FileRange,
        ifVersion version: FileVersion?
    ) async throws(FileStoreError) -> FileReading {
        guard let (file, status) = try folder.open(path) else {
            throw FileStoreError.notFound(path)
        }
        let metadata = metadata(path, status, FileLabel(of: file))
        if let version { try FileCondition.version(version).check(path, metadata.version) }
        let bytes = try range.resolved(size: status.size)
        let isWhole = bytes == 0..<status.size
        let expected = isWhole && configuration.verifiesChecksums ? metadata.checksum : nil
        let content = FileContent(length: bytes.count, isReplayable: true) {
            () throws(FileStoreError) in
            try Self.reader(of: file, bytes, path, expecting: expected)
        }
        return FileReading(metadata: metadata, range: bytes, content: content)
    }

    /// Returns a reader of an open file, which reads that file even if its path is reused.
    private static func reader(
        of file: Descriptor,
        _ bytes: Range<Int>,
        _ path: FileStorePath,
        expecting checksum: FileChecksum?
    ) throws(FileStoreError) -> FileReader {
        let hash = try checksum.map { checksum throws(FileStoreError) in
            try FileHash(checksum.algorithm)
        }
        let state = Mutex((position: bytes.lowerBound, hash: hash))
        return FileReader { () async throws(FileStoreError) in
            try FileStoreError.checkCancellation()
            return try state.withLock { state throws(FileStoreError) in
                let count = min(LocalFileTransfer.pieceByteCount, bytes.upperBound - state.position)
                if count == 0 {
                    if let checksum, let hash = state.hash.take(), hash.checksum != checksum {
                        throw FileStoreError(
                            .damaged,
                            "“\(path)” does not contain the bytes that were written."
                        )
                    }
                    return nil
                }
                switch file.read(at: state.position, count: count) {
                case .success(let piece):
                    guard !piece.isEmpty else {
                        throw FileStoreError(
                            .readFailed,
                            "“\(path)” was truncated during the read."
                        )
                    }
                    state.position += piece.count
                    state.hash?.update(piece)
                    return piece
                case .failure(let failure):
                    throw FileStoreError("pread", path.string, .readFailed, number: failure.number)
                }
            }
        }
    }

    func metadata(
        _ path: FileStorePath,
        _ status: FileStatus,
        _ label: FileLabel?
    ) -> FileMetadata {
        let isCurrent = label?.isAbout(status) == true
        let version = isCurrent ? label?.fileVersion : nil
        return FileMetadata(
            summary(path, status, version: version),
            contentType: label?.contentType ?? ContentTypes.type(of: path),
            attributes: label?.attributes ?? [:],
            checksum: isCurrent ? label?.checksum : nil
        )
    }

    func summary(
        _ path: FileStorePath,
        _ status: FileStatus,
        version: FileVersion?
    ) -> FileSummary {
        // The version of an unlabeled file combines its identity and the time of its last change.
        let numbers = [status.inode, UInt64(bitPattern: status.changed), UInt64(status.size)]
        let known = { numbers.map { String($0, radix: 36) }.joined(separator: "-") }
        return FileSummary(
            path: path,
            size: status.size,
            modified: Date(timeIntervalSince1970: Double(status.modified) / 1_000_000_000),
            version: version ?? FileVersion(known())
        )
    }

    // MARK: Opening

    private static func openFolder(
        _ path: String,
        _ trace: FolderTrace?
    ) throws(FileStoreError) -> Descriptor {
        // The folder itself may be reached through links, because the app has chosen it.
        let number = openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard number >= 0 else { throw FileStoreError("open", path, .readFailed, number: errno) }
        return Descriptor(number, trace: trace)
    }

    private static func makeFolder(
        _ name: String,
        in folder: Descriptor,
        _ path: String
    ) throws(FileStoreError) -> Descriptor {
        let number = folder.makeFolder(name)
        guard number == 0 || number == EEXIST else {
            throw FileStoreError("mkdirat", path, .writeFailed, number: number)
        }
        return try opened(folder.open(name, O_RDONLY | O_DIRECTORY), path)
    }

    private static func opened(
        _ result: Result<Descriptor, Descriptor.Failure>,
        _ path: String
    ) throws(FileStoreError) -> Descriptor {
        switch result {
        case .success(let descriptor): return descriptor
        case .failure(let failure):
            throw FileStoreError("openat", path, .writeFailed, number: failure.number)
        }
    }

    private static func probeLabels(_ file: Descriptor) -> Bool {
        guard let status = file.status() else { return false }
        let label = FileLabel(
            version: 0,
            contentType: "",
            attributes: [:],
            checksum: FileChecksum(algorithm: .crc32c, bytes: [0, 0, 0, 0]),
            status
        )
        // Only this error means that attributes are unsupported; a full disk may have room later.
        return label.set(on: file) != ENOTSUP
    }

    /// Removes the files of processes that ended while writing.
    private func removeLeftovers() {
        guard case .success(let names) = folder.news.names() else { return }
        for name in names {
            guard case .success(let file) = folder.news.open(name, O_RDONLY | O_NONBLOCK) else {
                continue
            }
            // A writer holds the lock of its file.
            if flock(file.number, LOCK_EX | LOCK_NB) == 0 {
                _ = folder.news.remove(name)
            }
        }
    }
}
