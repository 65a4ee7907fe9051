public import KeelHTTP

/// The name of one way in which a server, or the way to it, can fail.
public struct HTTPFault: Hashable, Sendable, CustomStringConvertible {
    /// The fault, as a sentence about the server.
    public let description: String

    /// What a transport makes of a fault.
    public struct Outcome: Hashable, Sendable, CustomStringConvertible {
        /// The codes that fit; more than one only where machines differ, as in name resolution.
        public var codes: Set<TransportError.Code>
        /// The phases that fit.
        public var phases: Set<TransportError.Phase>
        /// Whether the server may have acted.
        public var processed: TransportError.Processed

        /// Creates an outcome.
        ///
        /// - Parameters:
        ///   - code: What kind of failure it is.
        ///   - phase: How far the exchange had come.
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

        /// Adds another code that fits.
        func or(_ code: TransportError.Code) -> Self {
            var copy = self
            copy.codes.insert(code)
            return copy
        }

        /// Adds another phase that fits.
        func or(_ phase: TransportError.Phase) -> Self {
            var copy = self
            copy.phases.insert(phase)
            return copy
        }

        func fits(_ error: TransportError) -> Bool {
            codes.contains(error.code) && processed == error.processed
                && error.phase.map { phases.contains($0) } == true
        }

        /// The codes, the phases and the certainty.
        public var description: String {
            let codes = codes.map(\.name).sorted().joined(separator: " or ")
            let phases = phases.map(\.description).sorted().joined(separator: " or ")
            return "\(codes) (phase: \(phases), processed: \(processed.rawValue))"
        }
    }

    /// Creates the name of a fault, to say that a transport cannot tell it from others.
    public init(_ description: String) {
        self.description = description
    }
}
