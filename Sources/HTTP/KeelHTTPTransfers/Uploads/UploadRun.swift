import HTTPTypes
import KeelCore
import KeelHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct UploadRun {
    let upload: ResumableUpload
    private let observer: ResumableTransferObserver?
    private let dialect: any UploadDialect
    private let head: HTTPRequest
    private let options: HTTPCallOptions
    let path: String
    /// The protocol, the address and the user, which identify the upload among those of the file.
    private let purpose: String
    /// The user for whom the run began; nil if there is none or it is unknown.
    private let user: String?
    /// Whether the user was still the same when the first request had been answered.
    private var hasConfirmedUser = false
    private let notes: UploadNotes
    let queue = DiskQueue()
    private let clock: any Clock<Duration>
    private let time: Timeline
    private var response: HTTPResponse?
    private var body: [UInt8] = []
    #if canImport(Darwin)
    private var background: BackgroundUpload?
    #endif

    init(
        _ upload: ResumableUpload,
        _ observer: ResumableTransferObserver?
    ) async throws(TransferError) {
        self.upload = upload
        self.observer = observer
        dialect = upload.kind.dialect
        do throws(TransportError) {
            head = try upload.client.head(.post, upload.address)
        } catch {
            throw TransferError(error)
        }
        var options = upload.configuration.options
        options.pin = SessionPin()
        self.options = options
        path = try TransferNames(upload.file).file
        user = await upload.client.signer(of: options)
        purpose = UploadNotes.purpose(upload.kind, head, for: user)
        notes = UploadNotes(
            try TransferNames(upload.file),
            folder: try upload.configuration.recordFolder.map { folder throws(TransferError) in
                try TransferNames(folder).file
            },
            purpose: purpose,
            upload.files
        )
        clock = upload.client.configuration.clock
        time = Timeline(clock)
    }

    #if canImport(Darwin)
    mutating func carry(in session: BackgroundTransferSession) -> BackgroundUpload {
        let purpose = DownloadAddress(place: self.purpose, query: nil)
        let background = BackgroundUpload(
            session: session,
            task: BackgroundTask(.upload, path: path, address: purpose),
            notes: notes,
            files: upload.files,
            queue: queue,
            watch: BackgroundWatch(observer)
        )
        self.background = background
        return background
    }
    #endif

    mutating func run() async throws(TransferError) -> ResumableUpload.Receipt {
        let result: Result<ResumableUpload.Receipt, TransferError>
        do throws(TransferError) {
            result = .success(try await steps())
        } catch {
            result = .failure(error)
        }
        // A remaining lock file is harmless: the lock itself ends with this run.
        _ = try? await queue.run { [notes] () throws(FileSystemError) in try notes.unlock() }
        return try result.get()
    }

    mutating func discard() async throws(TransferError) {
        let found = try await disk { notes throws(FileSystemError) in try notes.open() }
        if let record = found.record, await isUnfinished(record) {
            await terminate(record.location)
        }
        try await disk { notes throws(FileSystemError) in
            try notes.forget()
            try notes.unlock()
        }
    }

    /// Returns whether the server certainly lacks bytes.
    ///
    /// Terminating a complete upload may remove the file that it has become.
    private mutating func isUnfinished(_ record: UploadRecord) async -> Bool {
        guard record.mayBeComplete else { return true }
        let length = record.source.size
        guard case .answered(.arrived(let offset)) = await query(record.location, length) else {
            return false
        }
        return offset < length
    }

    private mutating func steps() async throws(TransferError) -> ResumableUpload.Receipt {
        let found = try await disk { notes throws(FileSystemError) in try notes.open() }
        let source: UploadSource
        do throws(FileSystemError) {
            source = try await queue.run { [path, upload] () throws(FileSystemError) in
                try UploadSource(path, upload.files)
            }
        } catch {
            throw TransferError(error, source: true)
        }
        var machine = UploadMachine(
            upload.configuration,
            dialect: upload.kind.description,
            source: source
        )
        var event = UploadMachine.Event.found(found.record, isDamaged: found.isDamaged)
        while true {
            var next: UploadMachine.Event?
            for effect in machine.step(event, now: time.now) {
                switch effect {
                case .finish:
                    return ResumableUpload.Receipt(
                        byteCount: source.size,
                        resumedBytes: machine.resumedBytes,
                        restarts: machine.restarts,
                        wasResumable: machine.wasResumable,
                        response: response,
                        body: body
                    )
                case .fail:
                    throw machine.failure ?? TransferError(.exchange)
                case .rest(let longest, let atLeast):
                    next = await rest(longest, atLeast, machine.failure)
                default:
                    do throws(TransferError) {
                        next = try await perform(effect, source) ?? next
                    } catch {
                        var failure = error
                        failure.completedBytes = machine.acknowledged
                        throw failure
                    }
                }
            }
            guard let next else { throw TransferError(.exchange, "The transfer stalled.") }
            event = next
        }
    }

    // MARK: Effects

    private mutating func perform(
        _ effect: UploadMachine.Effect,
        _ source: UploadSource
    ) async throws(TransferError) -> UploadMachine.Event? {
        let dialect = dialect
        switch effect {
        case .probe:
            var head = own(head)
            dialect.probe(&head)
            return await send(head) { dialect.probed($0) }
        case .create:
            var head = own(head)
            head.headerFields[.contentType] = upload.configuration.contentType
            dialect.create(&head, length: source.size, metadata: upload.configuration.metadata)
            return await send(head, isEmpty: true) { dialect.created($0) }
        case .query(let location):
            return await query(location, source.size)
        case .append(let location, let piece):
            return await append(location, piece, source)
        case .sendPlainRequest:
            let piece = UploadPiece(offset: 0, count: source.size, isLast: true)
            var head = own(head)
            head.headerFields[.contentType] = upload.configuration.contentType
            return await send(head, (piece, source), isOnce: true, keepsResponse: true) { head in
                head.status.kind == .successful ? .complete : .failure(head)
            }
        case .save(let record):
            try await disk { notes throws(FileSystemError) in try notes.save(record) }
            return .saved
        case .terminate(let location):
            await terminate(location)
        case .forget:
            try await disk { notes throws(FileSystemError) in try notes.forget() }
        case .resumed(let offset):
            observer?.tell(.resumed(at: offset))
        case .restarted(let reason):
            observer?.tell(.restarted(reason))
        case .progress(let count):
            let progress = TransferProgress(completedBytes: count, totalBytes: source.size)
            observer?.tell(.progress(progress))
        case .sendingPlainRequest:
            observer?.tell(.sendingPlainRequest)
        case .rest, .finish, .fail:
            break
        }
        return nil
    }

    private func own(_ head: HTTPRequest) -> HTTPRequest {
        var head = head
        let fields = upload.configuration.headers
        for name in Set(fields.map(\.name)) {
            head.headerFields[fields: name] = fields[fields: name]
        }
        return head
    }

    private func head(at location: String) throws(TransportError) -> HTTPRequest {
        guard let url = URL(string: location) else {
            throw TransportError(.redirectInvalid, url: head.redactedURL)
        }
        let head = try upload.client.head(.head, url)
        return head.hasSameOrigin(as: self.head) ? own(head) : head
    }

    /// Returns the absolute address of an upload from the server's `Location` (RFC 9110 section 10.2.2).
    private func absolute(_ location: String) throws(TransportError) -> String {
        var target = head
        try target.move(to: location, from: head)
        return "\(target.scheme ?? "http")://\(target.authority ?? "")\(target.path ?? "/")"
    }

    private mutating func query(_ location: String, _ length: Int64) async -> UploadMachine.Event {
        #if canImport(Darwin)
        // The response to the last piece completes the upload; some servers forget the upload then.
        if let (piece, answer) = await background?.earlier(),
            dialect.appended(answer.head, piece) == .complete
        {
            response = answer.head
            body = answer.body
            return .answered(.complete)
        }
        #endif
        var head: HTTPRequest
        do throws(TransportError) {
            head = try self.head(at: location)
        } catch {
            return .broke(TransferError(error))
        }
        dialect.query(&head)
        return await send(head) { [dialect] in dialect.told($0, length: length) }
    }

    private mutating func append(
        _ location: String,
        _ piece: UploadPiece,
        _ source: UploadSource
    ) async -> UploadMachine.Event {
        var head: HTTPRequest
        do throws(TransportError) {
            head = try self.head(at: location)
        } catch {
            return .broke(TransferError(error))
        }
        dialect.append(&head, piece)
        do throws(TransferError) {
            if upload.kind == .tus, let checksum = upload.configuration.pieceChecksum {
                let digest = try await digest(piece, checksum)
                let text = Data(digest).base64EncodedString()
                head.headerFields[.uploadChecksum] = "\(checksum.name) \(text)"
            }
        } catch {
            return .broke(error)
        }
        return await send(head, (piece, source), keepsResponse: piece.isLast) { [dialect] head in
            dialect.appended(head, piece)
        }
    }

    private func carried(
        _ head: HTTPRequest,
        _ piece: UploadPiece,
        _ source: UploadSource,
        isOnce: Bool
    ) async throws(TransportError) -> HTTPReply {
        #if canImport(Darwin)
        if let background {
            return try await background.send(head, piece, of: source, isOnce: isOnce)
        }
        #endif
        return try await upload.client.transfer(
            head,
            body: content(piece, source),
            options: options
        )
    }

    private mutating func send(
        _ head: HTTPRequest,
        _ content: (piece: UploadPiece, source: UploadSource)? = nil,
        isEmpty: Bool = false,
        isOnce: Bool = false,
        keepsResponse: Bool = false,
        reading read: (HTTPResponse) -> UploadResponse
    ) async -> UploadMachine.Event {
        do throws(TransportError) {
            let reply =
                if let (piece, source) = content {
                    try await carried(head, piece, source, isOnce: isOnce)
                } else {
                    try await upload.client.transfer(
                        head,
                        body: isEmpty ? HTTPBody([]) : nil,
                        options: options
                    )
                }
            if !hasConfirmedUser { try await confirmUser(head) }
            var answer = read(reply.head)
            if case .created(let location, let limits) = answer {
                answer = .created(location: try absolute(location), limits)
            }
            // Short bodies are read to the end, so that the connection can be reused.
            let limit = upload.client.configuration.errorBodyLimit
            if keepsResponse, answer == .complete {
                // The upload is complete, whatever happens to the rest of the response.
                response = reply.head
                body = (try? await reply.body.collectPrefix(limit)) ?? []
            } else if (reply.announcedLength ?? 0) <= Int64(limit) {
                _ = try? await reply.body.collectPrefix(limit + 1)
            }
            return .answered(answer)
        } catch {
            return .broke(TransferError(error))
        }
    }

    /// Throws if another user has signed in before the first request, which fixes the user of all.
    private mutating func confirmUser(_ head: HTTPRequest) async throws(TransportError) {
        guard await upload.client.signer(of: options) == user else {
            throw TransportError(
                .credentialsUnavailable,
                url: head.redactedURL,
                cause: AuthenticationError(.superseded, "The user has changed since the start.")
            )
        }
        hasConfirmedUser = true
    }

    private func terminate(_ location: String) async {
        guard var head = try? head(at: location) else { return }
        dialect.terminate(&head)
        guard let reply = try? await upload.client.transfer(head, options: options) else { return }
        _ = try? await reply.body.collectPrefix(4096)
    }

    private func rest(
        _ longest: Duration,
        _ atLeast: Duration,
        _ error: TransferError?
    ) async -> UploadMachine.Event {
        let part = min(max(upload.configuration.retry.jitter(), 0), 1)
        let pause = max(longest * part, atLeast)
        if let error { observer?.tell(.retrying(after: pause, error)) }
        do {
            if pause > .zero { try await clock.sleep(for: pause) }
            try Task.checkCancellation()
            return .rested
        } catch {
            return .broke(TransferError(.cancelled))
        }
    }

    private func disk<Value: Sendable>(
        _ work: @escaping @Sendable (UploadNotes) throws(FileSystemError) -> Value
    ) async throws(TransferError) -> Value {
        do throws(FileSystemError) {
            return try await queue.run { [notes] () throws(FileSystemError) in try work(notes) }
        } catch {
            throw TransferError(error)
        }
    }
}
