import KeelCore

extension EventStream {
    /// The events of a stream together with the changes of its connection.
    public struct Updates: AsyncSequence, Sendable {
        public typealias Element = EventStreamUpdate
        public typealias Failure = NetworkError

        let stream: EventStream

        public func makeAsyncIterator() -> Iterator {
            Iterator(stream)
        }

        /// An iterator over the updates.
        public struct Iterator: AsyncIteratorProtocol, Sendable {
            private enum Stage: Sendable {
                case idle
                case connecting
                case open(HTTPByteStream.Iterator, since: @Sendable () -> Duration)
                case waiting(Duration)
                case ended
            }

            private let stream: EventStream
            private var stage = Stage.idle
            private var parser: ServerSentEventParser
            private var failures = 0
            private var isAfterStall = false
            private let pin = SessionPin()
            private var serverDelay: Duration?

            fileprivate init(_ stream: EventStream) {
                self.stream = stream
                parser = ServerSentEventParser(lastEventID: stream.policy.lastEventID)
            }

            /// The identifier last seen; save it to resume from there later.
            public var lastEventID: String { parser.lastEventID }

            public mutating func next(
                isolation actor: isolated (any Actor)? = #isolation
            ) async throws(NetworkError) -> EventStreamUpdate? {
                // If anything below throws, the sequence has ended.
                let current = stage
                stage = .ended
                switch current {
                case .ended:
                    return nil
                case .idle:
                    stage = .connecting
                    return .connecting(attempt: failures + 1)
                case .waiting(let pause):
                    try await sleep(pause)
                    stage = .connecting
                    return .connecting(attempt: failures + 1)
                case .connecting:
                    return try await connect()
                case .open(let chunks, let age):
                    return try await read(chunks, age, actor)
                }
            }

            private mutating func connect() async throws(NetworkError) -> EventStreamUpdate? {
                do throws(NetworkError) {
                    guard
                        let body = try await stream.connect(
                            lastEventID,
                            isAfterStall: isAfterStall,
                            pin
                        )
                    else { return nil }
                    parser = ServerSentEventParser(
                        limits: stream.policy.limits,
                        lastEventID: lastEventID
                    )
                    let age = stopwatch(on: stream.client.configuration.clock)
                    stage = .open(body.makeAsyncIterator(), since: age)
                    return .open
                } catch {
                    return try lost(error)
                }
            }

            private mutating func read(
                _ chunks: HTTPByteStream.Iterator,
                _ age: @escaping @Sendable () -> Duration,
                _ actor: isolated (any Actor)?
            ) async throws(NetworkError) -> EventStreamUpdate? {
                var chunks = chunks
                do throws(TransportError) {
                    while true {
                        if let event = try parser.next() {
                            stage = .open(chunks, since: age)
                            return .event(event)
                        }
                        guard let chunk = try await chunks.next(isolation: actor) else { break }
                        parser.append(chunk)
                        serverDelay = parser.reconnectionDelay ?? serverDelay
                    }
                } catch {
                    serverDelay = parser.reconnectionDelay ?? serverDelay
                    if age() >= stream.policy.stableAfter { failures = 0 }
                    return try lost(NetworkError(error))
                }
                serverDelay = parser.reconnectionDelay ?? serverDelay
                if age() >= stream.policy.stableAfter { failures = 0 }
                return try lost(nil)
            }

            private mutating func lost(
                _ error: NetworkError?
            ) throws(NetworkError) -> EventStreamUpdate? {
                if let error, !error.isTransient { throw error }
                failures += 1
                isAfterStall = error?.transportError?.code == .responseTimeout
                guard stream.mayConnectAgain, failures < stream.policy.retry.attempts else {
                    if let error { throw error }
                    return nil
                }
                let policy = stream.policy
                let backOff = policy.retry.maximumDelay(before: failures) * policy.jitter()
                let asked = Swift.max(serverDelay ?? .zero, error?.retryAfter ?? .zero)
                // The server's pause is the minimum; the rest spreads out its clients.
                let pause = Swift.min(asked, policy.maximumServerDelay) + backOff
                stage = .waiting(pause)
                return .waiting(pause, error)
            }

            private func sleep(_ pause: Duration) async throws(NetworkError) {
                do {
                    try await stream.client.configuration.clock.sleep(for: pause)
                } catch {
                    throw NetworkError(.cancelled)
                }
            }
        }
    }
}
