public import KeelHTTP

/// The name of a fault of a server or of the connection to it.
public struct ServerFault: Hashable, Sendable, CustomStringConvertible {
    /// The fault, as a sentence about the server.
    public let description: String

    /// The error that a transport reports for a fault.
    public struct Outcome: Hashable, Sendable, CustomStringConvertible {
        /// The accepted codes; there are several only where machines differ, as in name resolution.
        public var codes: Set<TransportError.Code>
        /// The accepted phases.
        public var phases: Set<TransportError.Phase>
        /// Whether the server may have acted.
        public var processed: TransportError.Processed

        /// Creates an outcome.
        ///
        /// - Parameters:
        ///   - code: The error code.
        ///   - phase: The phase in which the exchange failed.
        ///   - processed: Whether the server may have acted.
        public init(
            _ code: TransportError.Code,
            _ phase: TransportError.Phase,
            _ processed: TransportError.Processed
        ) {
            codes = [code]
            phases = [phase]
            self.processed = processed
        }

        func or(_ code: TransportError.Code) -> Self {
            var copy = self
            copy.codes.insert(code)
            return copy
        }

        func or(_ phase: TransportError.Phase) -> Self {
            var copy = self
            copy.phases.insert(phase)
            return copy
        }

        func fits(_ error: TransportError) -> Bool {
            codes.contains(error.code) && processed == error.processed
                && error.phase.map { phases.contains($0) } == true
        }

        /// The codes, phases and certainty.
        public var description: String {
            let codes = codes.map(\.name).sorted().joined(separator: " or ")
            let phases = phases.map(\.description).sorted().joined(separator: " or ")
            return "\(codes) (phase: \(phases), processed: \(processed.rawValue))"
        }
    }

    /// Creates the name of a fault, as a key of ``HTTPTransportSubject/conflations``.
    public init(_ description: String) {
        self.description = description
    }
}
