import Foundation
import KeelFiles
import Testing

struct FileStoreUnderTest: Sendable {
    let adapter: any FileStoreAdapter
    let files: FileStore
    private let subject: FileStoreSubject
    private let name: String

    static func run(
        on subject: FileStoreSubject,
        _ body: @Sendable (FileStoreUnderTest) async throws -> Void
    ) async throws {
        let name = "check-" + String(UInt64.random(in: .min ... .max), radix: 36)
        let adapter = try await subject.open(name)
        let test = Self(
            adapter: adapter,
            files: FileStore(adapter),
            subject: subject,
            name: name
        )
        try await body(test)
    }

    func reopened() async throws -> FileStore { FileStore(try await subject.open(name)) }

    @discardableResult
    func put(
        _ text: String,
        at path: FileStorePath,
        _ options: FileWriteOptions = FileWriteOptions()
    ) async throws(FileStoreError) -> FileMetadata {
        try await files.write(Data(text.utf8), to: path, options: options)
    }

    func text(_ path: FileStorePath) async throws(FileStoreError) -> String? {
        try await files.readIfPresent(path).map { String(decoding: $0, as: UTF8.self) }
    }

    func paths(in folder: FileStoreFolder = .root) async throws(FileStoreError) -> [String] {
        var paths: [String] = []
        for try await file in files.files(in: folder, pageSize: 3) {
            paths.append(file.path.string)
        }
        return paths
    }

    /// Returns the error code of a call; nil if it succeeds.
    func code(_ call: () async throws -> Void) async -> FileStoreError.Code? {
        do {
            try await call()
            return nil
        } catch {
            return (error as? FileStoreError)?.code ?? .unknown
        }
    }
}

/// Returns bytes in which every position identifies its file.
func fileBytes(_ seed: Int, count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed &* 97 &+ $0 >> 8) }
}

/// Returns a content in chunks of different lengths, without a known total length.
func piecewise(_ bytes: [UInt8]) -> FileContent {
    FileContent(length: nil, isReplayable: true) { () throws(FileStoreError) in
        let reader = PieceCutter(bytes)
        return FileReader { () async throws(FileStoreError) in await reader.next() }
    }
}

private actor PieceCutter {
    private var rest: ArraySlice<UInt8>
    private var length = 1

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    func next() -> [UInt8]? {
        guard !rest.isEmpty else { return nil }
        let piece = rest.prefix(length)
        rest = rest.dropFirst(length)
        length = length * 3 % 70_001
        return Array(piece)
    }
}
