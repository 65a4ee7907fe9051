import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Descriptions for logs, dumps and test failures, without queries, values of header fields and bytes of bodies.

extension HTTPCall: CustomStringConvertible, CustomReflectable {
    /// The method, the target without its query, and the size of the body.
    public var description: String {
        var text = "\(head.method.rawValue) \(redactedURL)"
        if let body { text += ", \(body)" }
        if attempt > 1 { text += ", attempt \(attempt)" }
        return text
    }

    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "id": id.description, "request": description,
                "fields": head.headerFields.map(\.name.rawName),
            ]
        )
    }
}

extension HTTPReply: CustomStringConvertible, CustomReflectable {
    /// The status.
    public var description: String { "status \(head.status.code)" }

    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "status": head.status.code, "fields": head.headerFields.map(\.name.rawName),
            ]
        )
    }
}

extension HTTPBody: CustomStringConvertible, CustomReflectable {
    /// The size.
    public var description: String { length.map { "\($0) bytes" } ?? "a stream" }

    public var customMirror: Mirror {
        Mirror(self, children: ["size": description, "isReplayable": isReplayable])
    }
}

extension NetworkClient.Configuration: CustomReflectable {
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "baseURL": baseURL.host() ?? "", "fields": defaultHeaders.map(\.name.rawName),
                "timeout": timeout as Any,
            ]
        )
    }
}

extension HTTPEvent: CustomStringConvertible, CustomReflectable {
    /// The call, the attempt, the time and the kind, safe for logs.
    public var description: String { "\(call)#\(attempt) +\(elapsed) \(kind)" }

    public var customMirror: Mirror { Mirror(self, children: ["event": description]) }
}

extension HTTPEvent.Kind: CustomStringConvertible, CustomReflectable {
    /// The event, safe for logs.
    public var description: String {
        switch self {
        case .started(let head): "started \(head.method.rawValue) \(head.redactedURL)"
        case .sending(let head): "sending \(head.method.rawValue) \(head.redactedURL)"
        case .entered(let phase): "entered \(phase)"
        case .connected(let connection): "connected\(connection.version.map { " by \($0)" } ?? "")"
        case .sentHead: "sent head"
        case .sentBody(let bytes): "sent body of \(bytes) bytes"
        case .received(let head, _): "received \(head.status.code)"
        case .receivedBody(let bytes): "received body of \(bytes) bytes"
        case .droppedBody(let bytes): "dropped body after \(bytes) bytes"
        case .attemptFailed(let error): "attempt failed: \(error.code.name)"
        case .redirected(let url, let status): "redirected by \(status) to \(url)"
        case .retrying(let pause, let reason): "retrying after \(pause): \(reason)"
        case .notRetried(let reason): "not retried: \(reason)"
        case .joined(let call): "joined \(call)"
        case .hedged: "hedged"
        case .cached(let freshness): "cached: \(freshness)"
        case .queued(let isWaiting): isWaiting ? "queued" : "admitted"
        case .credentialsRenewed: "credentials renewed"
        case .circuit(let state): "circuit \(state)"
        case .succeeded(let status): "succeeded with \(status)"
        case .failed(let error): "failed: \(error.code.name)"
        }
    }

    public var customMirror: Mirror { Mirror(self, children: ["kind": description]) }
}
