import Foundation
import KeelConformance
import KeelFiles
import Synchronization
import Testing

// A template of an adapter over an SDK that keeps whole files under flat names. Copy it, replace LegacyDrive with
// your SDK, and run FileStoreCheck on the result.

/// A file store adapter over a legacy SDK's drive.
///
/// | capability | offered |
/// |---|---|
/// | persistent, case-sensitive names, a file beside a folder, distinct versions | yes |
/// | attributes, changes, conditions against other processes | no: the drive has none |
///
/// The drive reads and writes whole files, so that each is in memory once meanwhile.
final class LegacyFileStoreAdapter: FileStoreAdapter {
    private let drive: Mutex<LegacyDrive>

    /// The largest file in bytes.
    private static let byteLimit = 64 << 20

    init(_ drive: sending LegacyDrive) { self.drive = Mutex(drive) }

    var capabilities: FileStoreCapabilities {
        [.persistent, .distinguishesCase, .filesBesideFolders, .distinctVersions]
    }

    func metadata(of path: FileStorePath) async throws(FileStoreError) -> FileMetadata? {
        drive.withLock { $0.file(named: path.nameOnDrive)?.metadata(at: path) }
    }

    func read(
        _ path: FileStorePath,
        range: FileRange,
        ifVersion version: FileVersion?
    ) async throws(FileStoreError) -> FileReading {
        // A reader gets the bytes of one version, whatever is written meanwhile.
        guard let file = drive.withLock({ $0.file(named: path.nameOnDrive) }) else {
            throw Self.notFound(path)
        }
        if let version { try Self.check(.version(version), path, file) }
        let bytes = try range.resolved(size: file.bytes.count)
        return FileReading(
            metadata: file.metadata(at: path),
            range: bytes,
            content: FileContent(Array(file.bytes[bytes]))
        )
    }

    func write(
        _ content: FileContent,
        to path: FileStorePath,
        options: FileWriteOptions
    ) async throws(FileStoreError) -> FileMetadata {
        guard options.attributes.isEmpty, options.contentType == nil else {
            throw FileStoreError(.unsupported, "The drive keeps no types and no attributes.")
        }
        let bytes = try await Self.bytes(of: content, options, for: path)
        // Comparing and replacing is atomic in this process only; the drive offers no more.
        return try drive.withLock { drive throws(FileStoreError) in
            try Self.check(options.condition, path, drive.file(named: path.nameOnDrive))
            return try drive.put(bytes, at: path)
        }
    }

    func transfer(_ request: FileTransferRequest) async throws(FileStoreError) -> FileMetadata {
        try drive.withLock { drive throws(FileStoreError) in
            guard let source = drive.file(named: request.source.nameOnDrive) else {
                throw Self.notFound(request.source)
            }
            let target = drive.file(named: request.target.nameOnDrive)
            try Self.check(request.condition, request.target, target)
            let isInPlace = request.isMove && request.source == request.target
            guard !isInPlace else { return source.metadata(at: request.source) }
            let metadata = try drive.put(source.bytes, at: request.target)
            // The copy is written before the original is removed.
            if request.isMove { drive.remove(named: request.source.nameOnDrive) }
            return metadata
        }
    }

    func delete(
        _ path: FileStorePath,
        if condition: FileCondition
    ) async throws(FileStoreError) -> Bool {
        try drive.withLock { drive throws(FileStoreError) in
            try Self.check(condition, path, drive.file(named: path.nameOnDrive))
            return drive.remove(named: path.nameOnDrive)
        }
    }

    func list(_ request: FileListRequest) async throws(FileStoreError) -> FilePage {
        let files = drive.withLock { drive in
            drive.files.compactMap { file in
                FileStorePath(nameOnDrive: file.name).map { file.metadata(at: $0).summary }
            }
        }
        return FilePage(of: files, for: request)
    }

    // MARK: Checks of arguments

    /// Reads a whole file into memory; nothing has changed if it throws.
    private static func bytes(
        of content: FileContent,
        _ options: FileWriteOptions,
        for path: FileStorePath
    ) async throws(FileStoreError) -> [UInt8] {
        let reader = try await content.open()
        var bytes: [UInt8] = []
        while let piece = try await reader.next() {
            try checkCancellation()
            bytes += piece
            guard bytes.count <= byteLimit else {
                throw FileStoreError(.tooLarge, "The drive takes \(byteLimit) bytes at most.")
            }
        }
        // A stream ends as well if the task that reads it is canceled.
        try checkCancellation()
        let checksum = options.checksum
        let found = try checksum.map { given throws(FileStoreError) in
            try FileChecksum.of(bytes, by: given.algorithm)
        }
        guard found == checksum, content.length ?? bytes.count == bytes.count else {
            throw FileStoreError(
                .checksumMismatch,
                "Other bytes came for “\(path)” than announced."
            )
        }
        return bytes
    }

    private static func checkCancellation() throws(FileStoreError) {
        guard !Task.isCancelled else {
            throw FileStoreError(.cancelled, "The call was canceled.", cause: CancellationError())
        }
    }

    private static func check(
        _ condition: FileCondition,
        _ path: FileStorePath,
        _ file: LegacyFile?
    ) throws(FileStoreError) {
        guard condition.holds(for: file?.version) else {
            throw FileStoreError(.conditionFailed, "“\(path)” is not as the call expects it.")
        }
    }

    private static func notFound(_ path: FileStorePath) -> FileStoreError {
        FileStoreError(.fileNotFound, "The file “\(path)” does not exist.")
    }
}

/// Conversions between Keel's files and those of the drive.
extension LegacyFile {
    fileprivate var version: FileVersion { FileVersion("\(revision)") }

    fileprivate func metadata(at path: FileStorePath) -> FileMetadata {
        FileMetadata(
            FileSummary(path: path, size: bytes.count, modified: changed, version: version),
            contentType: path.defaultContentType
        )
    }
}

extension LegacyDrive {
    fileprivate func put(
        _ bytes: [UInt8],
        at path: FileStorePath
    ) throws(FileStoreError) -> FileMetadata {
        guard let file = save(bytes, named: path.nameOnDrive) else {
            throw FileStoreError(.diskFull, "The drive has no room for “\(path)”.")
        }
        return file.metadata(at: path)
    }
}

extension FileStorePath {
    /// The name on the drive, which has no folders.
    ///
    /// Encoding removes special characters and keeps different spellings of a character apart.
    fileprivate var nameOnDrive: String {
        string.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? string
    }

    /// Decodes a name on the drive; nil if it was not encoded by this adapter.
    fileprivate init?(nameOnDrive name: String) {
        guard let string = name.removingPercentEncoding, let path = try? FileStorePath(string),
            path.nameOnDrive == name
        else { return nil }
        self = path
    }
}

// MARK: The SDK

/// A file of the imaginary SDK, with a number that grows with each change of the drive.
struct LegacyFile: Sendable {
    var name: String
    var bytes: [UInt8]
    var revision: Int
    var changed: Date
}

/// The imaginary SDK: a drive of limited capacity, from a time before tasks and streams.
final class LegacyDrive {
    private var kept: [String: LegacyFile] = [:]
    private var lastRevision = 0
    private let capacity: Int

    init(capacity: Int = .max) { self.capacity = capacity }

    var files: [LegacyFile] { Array(kept.values) }

    func file(named name: String) -> LegacyFile? { kept[name] }

    /// Returns nil if the drive is full.
    func save(_ bytes: [UInt8], named name: String) -> LegacyFile? {
        let others = kept.values.reduce(0) { $0 + ($1.name == name ? 0 : $1.bytes.count) }
        guard others + bytes.count <= capacity else { return nil }
        lastRevision += 1
        let file = LegacyFile(name: name, bytes: bytes, revision: lastRevision, changed: .now)
        kept[name] = file
        return file
    }

    /// Returns whether the file existed.
    @discardableResult
    func remove(named name: String) -> Bool { kept.removeValue(forKey: name) != nil }
}

// MARK: Checks

@Suite("Template of a file store over a legacy SDK", .timeLimit(.minutes(2)))
struct LegacyFileStoreTests {
    private static let features: FileStoreSubject.Features = [
        .distinguishesCase, .distinctVersions,
    ]

    @Test("It passes the conformance checks", arguments: FileStoreCheck.applicable(to: features))
    func promises(_ check: FileStoreCheck) async throws {
        try await check.run(
            on: FileStoreSubject(features: Self.features) { _ in
                LegacyFileStoreAdapter(LegacyDrive())
            }
        )
    }

    @Test("Files with foreign names are ignored")
    func others() async throws {
        let drive = LegacyDrive()
        for name in ["a b", "%2e%2e", "%zz", "%ff", ""] { _ = drive.save([1], named: name) }
        let files = FileStore(LegacyFileStoreAdapter(drive))
        #expect(try await files.list().files.isEmpty)
        try await files.write(Data([2]), to: "a b")
        #expect(try await files.list().files.map(\.path) == ["a b"])
    }

    @Test("A full drive rejects a file and keeps the existing ones")
    func full() async throws {
        let files = FileStore(LegacyFileStoreAdapter(LegacyDrive(capacity: 4)))
        try await files.write(Data([1, 2, 3]), to: "a")
        for path in ["a", "b"] as [FileStorePath] {
            let error = await #expect(throws: FileStoreError.self) {
                try await files.write(Data([4, 5, 6, 7, 8]), to: path)
            }
            #expect(error?.code == .diskFull)
        }
        #expect(try await files.read("a") == Data([1, 2, 3]))
        #expect(try await files.exists("b") == false)
        let moved = await #expect(throws: FileStoreError.self) {
            try await files.move("a", to: "c")
        }
        #expect(moved?.code == .diskFull)
        #expect(try await files.read("a") == Data([1, 2, 3]))
    }

    @Test("A type and attributes are rejected as unsupported")
    func attributes() async throws {
        let files = FileStore(LegacyFileStoreAdapter(LegacyDrive()))
        for options in [FileWriteOptions(contentType: "text/x"), .init(attributes: ["a": "1"])] {
            let error = await #expect(throws: FileStoreError.self) {
                try await files.write(Data(), to: "a", options: options)
            }
            #expect(error?.code == .unsupported)
        }
        #expect(try await files.exists("a") == false)
    }
}
