public import HTTPTypes
internal import KeelHTTP
internal import Synchronization

extension ScriptedHTTPTransport {
    /// A call that fits a route.
    public struct Match: Sendable {
        /// The call.
        public let call: Call
        /// The values of the places in the template, decoded.
        public let parameters: [String: String]

        /// The value of a place in the template; empty where there is none of this name.
        public subscript(name: String) -> String { parameters[name] ?? "" }
    }

    /// What answers the calls of one method and path.
    struct Route: Sendable {
        let method: HTTPRequest.Method
        let template: String
        let answer: @Sendable (Match) -> Answer
        var isUsed = false

        func match(_ call: Call) -> Match? {
            guard call.head.method == method else { return nil }
            let path = (call.head.path ?? "").prefix { $0 != "?" }
            let segments = path.split(separator: "/", omittingEmptySubsequences: false)
            let places = template.split(separator: "/", omittingEmptySubsequences: false)
            guard segments.count == places.count else { return nil }
            var parameters: [String: String] = [:]
            for (segment, place) in zip(segments, places) {
                if place.hasPrefix("{"), place.hasSuffix("}") {
                    guard !segment.isEmpty else { return nil }
                    parameters[String(place.dropFirst().dropLast())] = Self.decoded(segment)
                } else if segment != place {
                    return nil
                }
            }
            return Match(call: call, parameters: parameters)
        }

        private static func decoded(_ segment: Substring) -> String {
            var bytes: [UInt8] = []
            var rest = Array(segment.utf8)[...]
            while let byte = rest.popFirst() {
                let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                if byte == UInt8(ascii: "%"), digits.count == 2,
                    let value = UInt8(digits, radix: 16)
                {
                    bytes.append(value)
                    rest = rest.dropFirst(2)
                } else {
                    bytes.append(byte)
                }
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Answers all calls of a method and a path.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - template: The whole path, with `{name}` for a segment of any text.
    ///   - answer: What becomes of a call that fits.
    public func on(
        _ method: HTTPRequest.Method,
        _ template: String,
        answer: @escaping @Sendable (Match) -> Answer
    ) {
        let route = Route(method: method, template: template, answer: answer)
        state.withLock { $0.routes.append(route) }
    }

    /// Adds answers after those that are left.
    public func enqueue(contentsOf answers: [Answer]) {
        state.withLock { $0.answers += answers }
    }

    /// How many answers of the list are left.
    public var answersLeft: Int { state.withLock { $0.answers.count } }

    /// Checks that every answer was given and every route was used.
    ///
    /// - Throws: ``ScriptNotUsedUp``, which names what was not.
    public func verify() throws(ScriptNotUsedUp) {
        let (answers, routes) = state.withLock { state in
            (state.answers.count, state.routes.filter { !$0.isUsed })
        }
        guard answers > 0 || !routes.isEmpty else { return }
        throw ScriptNotUsedUp(
            answersLeft: answers,
            unusedRoutes: routes.map { "\($0.method.rawValue) \($0.template)" }
        )
    }
}

extension ScriptedHTTPTransport.State {
    /// The answer of the first route that fits.
    mutating func route(
        _ call: ScriptedHTTPTransport.Call
    ) -> ScriptedHTTPTransport.Answer? {
        for index in routes.indices {
            guard let match = routes[index].match(call) else { continue }
            routes[index].isUsed = true
            return routes[index].answer(match)
        }
        return nil
    }
}

/// Calls that a test expected were not made.
public struct ScriptNotUsedUp: Error, Hashable, CustomStringConvertible {
    /// How many answers were not given.
    public let answersLeft: Int
    /// The routes that no call fitted.
    public let unusedRoutes: [String]

    /// What was not used, on one line.
    public var description: String {
        let routes =
            unusedRoutes.isEmpty ? "" : "; no call to \(unusedRoutes.joined(separator: ", "))"
        return "\(answersLeft) answers were not asked for\(routes)"
    }
}
