package import Foundation
package import KeelAnalytics
internal import KeelAnalyticsHTTP
package import KeelHTTP
package import KeelToolSupport

/// A destination that the command line names.
package struct FlushTarget: Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case keel, segment, mixpanel, amplitude, posthog, otlp
    }

    package let kind: Kind
    /// The destination's name in the app; nil for the name of the kind.
    package let name: String?
    /// The URL of the server; nil for the vendor's default.
    package let host: URL?
    /// The key, token or authorization for the server.
    package let key: String?
    private let keyVariable: String

    package init(
        kind: Kind,
        name: String?,
        host: URL?,
        keyVariable: String,
        environment: [String: String]
    ) {
        self.kind = kind
        self.name = name
        self.host = host
        self.keyVariable = keyVariable
        key = environment[keyVariable]
    }

    package func destination(
        over transport: any HTTPTransport
    ) throws(ToolError) -> any AnalyticsDestination {
        let connection = DestinationConnection(transport: transport)
        switch kind {
        case .keel:
            return KeelServerDestination(
                host: try givenHost(),
                token: key,
                connection: connection,
                name: name ?? "keel"
            )
        case .otlp:
            return OTLPEventDestination(
                endpoint: try givenHost(),
                authorization: key,
                connection: connection,
                name: name ?? "otlp"
            )
        case .segment:
            return SegmentDestination(
                writeKey: try givenKey(),
                connection: connection,
                host: host ?? SegmentDestination.unitedStates,
                name: name ?? "segment"
            )
        case .mixpanel:
            return MixpanelDestination(
                projectToken: try givenKey(),
                connection: connection,
                host: host ?? MixpanelDestination.unitedStates,
                name: name ?? "mixpanel"
            )
        case .amplitude:
            return AmplitudeDestination(
                apiKey: try givenKey(),
                connection: connection,
                host: host ?? AmplitudeDestination.unitedStates,
                name: name ?? "amplitude"
            )
        case .posthog:
            return PostHogDestination(
                projectKey: try givenKey(),
                connection: connection,
                host: host ?? PostHogDestination.unitedStates,
                name: name ?? "posthog"
            )
        }
    }

    private func givenHost() throws(ToolError) -> URL {
        guard let host else {
            throw ToolError(
                "\(kind.rawValue) has no default address",
                advice: "Add --server URL.",
                exit: .usage
            )
        }
        return host
    }

    private func givenKey() throws(ToolError) -> String {
        guard let key, !key.isEmpty else {
            throw ToolError(
                "\(kind.rawValue) requires a key, but none is set",
                advice: "Set the variable \(keyVariable), or name another one with --key-variable."
            )
        }
        return key
    }
}
