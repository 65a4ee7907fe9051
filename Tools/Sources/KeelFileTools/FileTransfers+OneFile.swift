internal import Foundation
internal import KeelFiles
internal import KeelFilesS3
internal import KeelToolSupport
internal import Synchronization

extension FileTransfers {
    /// Copies or moves one file, and returns the number of bytes.
    ///
    /// A source that was replaced meanwhile is not removed.
    ///
    /// - Throws: `FileStoreError`; `ToolError` for a local path that is not a file, or if a local source, or one of
    ///   another bucket, has changed meanwhile; or the error of setting the date.
    func transfer(
        _ from: FilePlace,
        _ to: FilePlace,
        _ options: Options,
        _ progress: @escaping @Sendable (FileProgress) -> Void
    ) async throws -> Int {
        switch (from, to) {
        case (.local(let path), .bucket(let name, let key)):
            try SpecialFile.refuseReading(path)
            let before = try FileState(path)
            let size = try await FileStore(adapter(name)).write(
                contentsOf: URL(filePath: path),
                to: FileStorePath(key),
                options: FileWriteOptions(contentType: options.contentType),
                progress: progress
            ).size
            if options.isMove {
                guard try FileState(path) == before else { throw Self.changed(from) }
                try FileManager.default.removeItem(atPath: path)
            } else if let after = try? FileState(path), after != before {
                throw Self.changed(from, copiedTo: to)
            }
            return size
        case (.bucket(let name, let key), .local(let path)):
            try SpecialFile.refuseWriting(path)
            let source = FileStore(try adapter(name))
            let file = try await source.download(
                FileStorePath(key),
                to: URL(filePath: path),
                progress: progress
            )
            if options.keepsDates {
                try FileManager.default.setAttributes(
                    [.modificationDate: file.modified],
                    ofItemAtPath: path
                )
            }
            if options.isMove { try await remove(from, source, file) }
            return file.size
        case (.bucket(let name, let key), .bucket(let other, let target)):
            let source = FileStore(try adapter(name))
            if name == other {
                // The server copies: no bytes pass through this machine.
                let (from, to) = (try FileStorePath(key), try FileStorePath(target))
                let file =
                    try await options.isMove
                    ? source.move(from, to: to) : source.copy(from, to: to)
                return file.size
            }
            let reading = try await source.open(FileStorePath(key))
            let file = reading.metadata
            // Without a FileStore, which refuses the names of attributes that other programs may use.
            let size = try await adapter(other).write(
                reading.content.reporting(progress),
                to: FileStorePath(target),
                options: FileWriteOptions(
                    contentType: options.contentType ?? file.contentType,
                    attributes: file.attributes
                )
            ).size
            if options.isMove {
                try await remove(from, source, file)
            } else if let after = try? await source.metadataIfPresent(of: file.path),
                after.version != file.version
            {
                throw Self.changed(from, copiedTo: to)
            }
            return size
        case (.local, .local):
            throw ToolError(
                "neither location is a bucket",
                advice: "Give a bucket as s3://BUCKET/KEY; use cp for local files."
            )
        }
    }

    /// Removes the source of a move, unless it was replaced meanwhile.
    private func remove(
        _ place: FilePlace,
        _ files: FileStore,
        _ file: FileMetadata
    ) async throws {
        guard files.capabilities.contains(.conditionsAcrossProcesses) else {
            let current = try await files.metadataIfPresent(of: file.path)
            guard current?.version == file.version else { throw Self.changed(place) }
            _ = try await files.delete(file.path)
            return
        }
        do throws(FileStoreError) {
            _ = try await files.delete(file.path, if: .version(file.version))
        } catch {
            guard error.code == .conditionFailed else { throw error }
            throw Self.changed(place)
        }
    }

    /// The copy may lack the change of its source, but would be newer to the next sync.
    private static func changed(_ place: FilePlace, copiedTo target: FilePlace) -> ToolError {
        ToolError(
            "“\(place)” changed while it was copied, and the copy may lack the change",
            advice: "Copy it again: keel files copy \(place.shellWord) \(target.shellWord)"
        )
    }

    private static func changed(_ place: FilePlace) -> ToolError {
        ToolError(
            "“\(place)” changed while it was moved, and was not removed",
            advice: "Move it again; the target may lack the change."
        )
    }

    /// Refuses two places of one bucket if one contains the other: a copy would be copied again, or removed.
    func refuseOverlap(of from: FilePlace, and to: FilePlace) throws {
        guard case .bucket(let name, let key) = from, case .bucket(let other, let target) = to,
            name == other
        else { return }
        let source = (try folder(key).string + "/").utf8
        let copy = (try folder(target).string + "/").utf8
        guard
            min(source.count, copy.count) == 1 || source.starts(with: copy)
                || copy.starts(with: source)
        else { return }
        throw ToolError(
            "“\(from)” and “\(to)” are in one another",
            advice: "Give two folders of which none contains the other."
        )
    }
}

extension FileContent {
    fileprivate func reporting(
        _ progress: @escaping @Sendable (FileProgress) -> Void
    ) -> FileContent {
        FileContent(length: length, isReplayable: isReplayable) { () async throws(FileStoreError) in
            let reader = try await open()
            let count = Atomic(0)
            return FileReader { () async throws(FileStoreError) in
                guard let piece = try await reader.next() else { return nil }
                let byteCount = count.wrappingAdd(piece.count, ordering: .relaxed).newValue
                progress(FileProgress(byteCount: byteCount, total: length))
                return piece
            }
        }
    }
}
