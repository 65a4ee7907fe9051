import Foundation
import KeelConformance
import KeelFiles
import Testing

/// A test that each of these flaws is detected by a check, because checks that cannot fail promise nothing.
@Suite("The checks of file stores detect flaws")
struct CheckTests {
    /// The flaw of a store.
    enum Flaw: String, CaseIterable, Sendable {
        case forgetsWrites, losesLastByte, ignoresConditions, ignoresChecksums, ignoresRanges
        case keepsDeleted, copiesInsteadOfMoving, listsInReverse, listsTwice, repeatsVersions
        case forgetsAttributes, tellsNothing, takesHalfAFile, ignoresLength
        case listsEncodedNames, showsEmptiedFiles
    }

    @Test("A flaw is detected", arguments: Flaw.allCases)
    func notices(_ flaw: Flaw) async throws {
        let features = FileStoreSubject.Features.complete.subtracting([.reopening, .watching])
        let subject = FileStoreSubject(features: features) { _ in FlawedAdapter(flaw) }
        await withKnownIssue("\(flaw)") {
            for check in FileStoreCheck.applicable(to: features) {
                try? await check.run(on: subject)
            }
        }
    }
}

/// A store in memory with one flaw.
private struct FlawedAdapter: FileStoreAdapter {
    private let upstream = InMemoryFileStoreAdapter()
    private let flaw: CheckTests.Flaw

    init(_ flaw: CheckTests.Flaw) { self.flaw = flaw }

    var capabilities: FileStoreCapabilities { upstream.capabilities }

    func metadata(of path: FileStorePath) async throws(FileStoreError) -> FileMetadata? {
        guard var metadata = try await upstream.metadata(of: path) else { return nil }
        if flaw == .forgetsAttributes { metadata.attributes = [:] }
        if flaw == .repeatsVersions { metadata.summary.version = FileVersion("1") }
        return metadata
    }

    func read(
        _ path: FileStorePath,
        range: FileRange,
        ifVersion version: FileVersion?
    ) async throws(FileStoreError) -> FileReading {
        let asked = flaw == .ignoresRanges ? .all : range
        let expected = flaw == .ignoresConditions ? nil : version
        let reading = try await upstream.read(path, range: asked, ifVersion: expected)
        if flaw == .showsEmptiedFiles, (30_000..<30_008).contains(reading.metadata.size) {
            // As if a writer had emptied the file to write into it; only concurrent writers write these sizes.
            var metadata = reading.metadata
            metadata.summary.size = 0
            return FileReading(metadata: metadata, range: 0..<0, content: FileContent([UInt8]()))
        }
        guard flaw == .losesLastByte else { return reading }
        let bytes = try await reading.content.collect(upTo: .max)
        return FileReading(
            metadata: reading.metadata,
            range: reading.range,
            content: FileContent(Array(bytes.dropLast()))
        )
    }

    func write(
        _ content: FileContent,
        to path: FileStorePath,
        options: FileWriteOptions
    ) async throws(FileStoreError) -> FileMetadata {
        var options = options
        var content = content
        switch flaw {
        case .forgetsWrites:
            return FileMetadata(
                FileSummary(path: path, size: 0, modified: .now, version: FileVersion("1")),
                contentType: "text/plain"
            )
        case .ignoresConditions: options.condition = .none
        case .ignoresChecksums: options.checksum = nil
        case .ignoresLength:
            content = FileContent(length: nil, isReplayable: true, open: content.open)
        case .takesHalfAFile:
            var bytes: [UInt8] = []
            do throws(FileStoreError) {
                for try await piece in content {
                    bytes += piece
                    if Task.isCancelled { throw FileStoreError(.cancelled, "It was cancelled.") }
                }
            } catch {
                content = FileContent(bytes)
                _ = try await upstream.write(content, to: path, options: options)
                throw error
            }
            content = FileContent(bytes)
        default: break
        }
        var metadata = try await upstream.write(content, to: path, options: options)
        if flaw == .repeatsVersions { metadata.summary.version = FileVersion("1") }
        return metadata
    }

    func transfer(_ request: FileTransferRequest) async throws(FileStoreError) -> FileMetadata {
        var request = request
        if flaw == .copiesInsteadOfMoving { request.isMove = false }
        return try await upstream.transfer(request)
    }

    func delete(
        _ path: FileStorePath,
        if condition: FileCondition
    ) async throws(FileStoreError) -> Bool {
        if flaw == .keepsDeleted { return true }
        return try await upstream.delete(path, if: condition)
    }

    func list(_ request: FileListRequest) async throws(FileStoreError) -> FilePage {
        var page = try await upstream.list(request)
        if flaw == .listsInReverse { page.files.reverse() }
        if flaw == .listsTwice, let first = page.files.first { page.files.append(first) }
        if flaw == .tellsNothing { page = FilePage(files: []) }
        if flaw == .listsEncodedNames {
            for index in page.files.indices {
                let name = page.files[index].path.string.replacing("%", with: "%25")
                page.files[index].path = try FileStorePath(name)
            }
        }
        return page
    }
}
