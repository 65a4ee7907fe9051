import HTTPTypes
import KeelCore
import KeelHTTP

struct DownloadRun {
    private let download: ResumableDownload
    private let observer: ResumableTransferObserver?
    private let head: HTTPRequest
    private let address: DownloadAddress
    private let options: HTTPCallOptions
    /// The user for whom the run began; nil if there is none or it is unknown.
    private let user: String?
    /// Whether the user was still the same when the first request had been answered.
    private var hasConfirmedUser = false
    private let part: DownloadFile
    private let queue = DiskQueue()
    private let clock: any Clock<Duration>
    private let time: Timeline
    private var machine: DownloadMachine
    private var body: HTTPByteStream.Iterator?
    /// The end of the body, while its last bytes are still to be written.
    private var pending: DownloadMachine.Event?
    private var isOpen = false
    private var resumedBytes: Int64 = 0

    /// The number of bytes written at once: a change of threads for each piece would cost more than the writing.
    private static let blockSize = 512 * 1024

    init(
        _ download: ResumableDownload,
        _ observer: ResumableTransferObserver?
    ) async throws(TransferError) {
        self.download = download
        self.observer = observer
        head = try download.head()
        var options = download.configuration.options
        options.pin = SessionPin()
        self.options = options
        user = await download.user
        address = DownloadAddress(head, for: user)
        part = try download.part()
        clock = download.client.configuration.clock
        time = Timeline(clock)
        machine = DownloadMachine(download.configuration, address: address)
    }

    mutating func run() async throws(TransferError) -> ResumableDownload.Receipt {
        let result: Result<ResumableDownload.Receipt, TransferError>
        do throws(TransferError) {
            result = .success(try await steps())
        } catch {
            result = .failure(error)
        }
        body = nil
        // A remaining lock file is harmless: the lock itself ends with this run.
        _ = try? await queue.run { [part] () throws(FileSystemError) in try part.unlock() }
        return try result.get()
    }

    private mutating func steps() async throws(TransferError) -> ResumableDownload.Receipt {
        let found = try await disk { part throws(FileSystemError) in try part.open() }
        var event = DownloadMachine.Event.found(
            found.record,
            durable: found.durable,
            isDamaged: found.isDamaged
        )
        while true {
            var next: DownloadMachine.Event?
            for effect in machine.step(event, now: time.now) {
                switch effect {
                case .finish:
                    try await disk { part throws(FileSystemError) in try part.finish() }
                    return receipt()
                case .fail(let error):
                    throw error
                default:
                    next = try await perform(effect) ?? next
                }
            }
            guard let next else { throw TransferError(.exchange, "The transfer stalled.") }
            event = next
        }
    }

    private func receipt() -> ResumableDownload.Receipt {
        var tag: String?
        if case .entityTag(let text) = machine.validator { tag = text }
        return ResumableDownload.Receipt(
            byteCount: machine.position,
            resumedBytes: resumedBytes,
            restarts: machine.restarts,
            entityTag: tag
        )
    }

    // MARK: Effects

    private mutating func perform(
        _ effect: DownloadMachine.Effect
    ) async throws(TransferError) -> DownloadMachine.Event? {
        switch effect {
        case .ask(let offset, let validator):
            return await ask(from: offset, validator)
        case .begin(let record):
            resumedBytes = 0
            isOpen = true
            try await disk { part throws(FileSystemError) in try part.begin(record) }
        case .note(let record):
            let durable = machine.durable
            try await disk { part throws(FileSystemError) in
                try part.note(record, durable: durable)
            }
        case .read:
            return try await read()
        case .keep:
            let position = machine.position
            try await disk { part throws(FileSystemError) in try part.keep(position) }
            return .kept
        case .rest(let longest, let atLeast, let error):
            return await rest(longest, atLeast, error)
        case .check:
            body = nil
            let total = machine.position
            let isRight = try await disk { part throws(FileSystemError) in try part.check(total) }
            return .checked(isRight)
        case .discard:
            try await disk { part throws(FileSystemError) in try part.discard() }
        case .tell(let event):
            switch event {
            case .resumed(let offset): resumedBytes = offset
            case .restarted: resumedBytes = 0
            default: break
            }
            observer?.tell(event)
        case .finish, .fail:
            break
        }
        return nil
    }

    private mutating func ask(
        from offset: Int64,
        _ validator: StrongValidator?
    ) async -> DownloadMachine.Event {
        body = nil
        pending = nil
        var head = head
        if let validator {
            head.headerFields[.range] = "bytes=\(offset)-"
            head.headerFields[.ifRange] = validator.text
        }
        do throws(TransportError) {
            let reply = try await download.client.transfer(head, options: options)
            if !hasConfirmedUser { try await confirmUser() }
            // Releasing the reply ends the exchange if its body is not wanted.
            if reply.head.status.kind == .successful { body = reply.body.makeAsyncIterator() }
            return .answered(DownloadResponse(reply.head, address: address))
        } catch {
            return .broke(TransferError(error))
        }
    }

    /// Throws if another user has signed in before the first request, which fixes the user of all.
    private mutating func confirmUser() async throws(TransportError) {
        guard await download.client.signer(of: options) == user else {
            throw TransportError(
                .credentialsUnavailable,
                url: head.redactedURL,
                cause: AuthenticationError(.superseded, "The user has changed since the start.")
            )
        }
        hasConfirmedUser = true
    }

    private mutating func read() async throws(TransferError) -> DownloadMachine.Event {
        let offset = machine.position
        if !isOpen {
            isOpen = true
            try await disk { part throws(FileSystemError) in try part.resume(at: offset) }
        }
        if let pending {
            self.pending = nil
            return pending
        }
        var block: [UInt8] = []
        var outcome: DownloadMachine.Event?
        let blockSize = min(Self.blockSize, download.configuration.checkpointByteCount)
        while block.count < blockSize, outcome == nil {
            do throws(TransportError) {
                guard let piece = try await body?.next() else {
                    outcome = .ended
                    continue
                }
                // Most pieces are small; a piece that is already a block needs no copy.
                if block.isEmpty { block.reserveCapacity(blockSize + piece.count) }
                block.append(contentsOf: piece)
            } catch {
                outcome = .broke(TransferError(error))
            }
        }
        if !block.isEmpty {
            let bytes = block
            try await disk { part throws(FileSystemError) in try part.write(bytes, at: offset) }
            pending = outcome
            return .wrote(bytes.count)
        }
        return outcome ?? .ended
    }

    private mutating func rest(
        _ longest: Duration,
        _ atLeast: Duration,
        _ error: TransferError
    ) async -> DownloadMachine.Event {
        body = nil
        let part = min(max(download.configuration.retry.jitter(), 0), 1)
        let pause = max(longest * part, atLeast)
        observer?.tell(.retrying(after: pause, error))
        do {
            if pause > .zero { try await clock.sleep(for: pause) }
            try Task.checkCancellation()
            return .rested
        } catch {
            return .broke(TransferError(.cancelled))
        }
    }

    private func disk<Value: Sendable>(
        _ work: @escaping @Sendable (DownloadFile) throws(FileSystemError) -> Value
    ) async throws(TransferError) -> Value {
        do throws(FileSystemError) {
            return try await queue.run { [part] () throws(FileSystemError) in try work(part) }
        } catch {
            var failure = TransferError(error)
            failure.completedBytes = machine.durable
            throw failure
        }
    }
}
