public import HTTPTypes
internal import KeelCore
internal import KeelHTTP
internal import Synchronization

extension ScriptedHTTPTransport {
    /// A call that matches a route.
    public struct Match: Sendable {
        /// The call.
        public let call: Call
        /// The decoded values of the template's parameters.
        public let parameters: [String: String]

        /// The value of a parameter; empty if the template has none of this name.
        public subscript(name: String) -> String { parameters[name] ?? "" }
    }

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
                    parameters[String(place.dropFirst().dropLast())] = PercentEncoding.decode(
                        segment
                    )
                } else if segment != place {
                    return nil
                }
            }
            return Match(call: call, parameters: parameters)
        }
    }

    /// Answers all calls with a method and a whole path, in which `{name}` matches one nonempty segment.
    ///
    /// Of several matching routes, the first answers. The closure runs under a lock and must not use the transport.
    public func on(
        _ method: HTTPRequest.Method,
        _ template: String,
        answer: @escaping @Sendable (Match) -> Answer
    ) {
        let route = Route(method: method, template: template, answer: answer)
        state.withLock { $0.routes.append(route) }
    }

    /// Appends answers to the list.
    public func enqueue(contentsOf answers: [Answer]) {
        state.withLock { $0.answers += answers }
    }

    /// The number of answers left in the list.
    public var remainingAnswerCount: Int { state.withLock { $0.answers.count } }

    /// Checks that every answer was given and every route was used.
    ///
    /// - Throws: ``UnusedScriptError``, which names the unused answers and routes.
    public func verify() throws(UnusedScriptError) {
        let (answers, routes) = state.withLock { state in
            (state.answers.count, state.routes.filter { !$0.isUsed })
        }
        guard answers > 0 || !routes.isEmpty else { return }
        throw UnusedScriptError(
            remainingAnswerCount: answers,
            unusedRoutes: routes.map { "\($0.method.rawValue) \($0.template)" }
        )
    }
}

extension ScriptedHTTPTransport.State {
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

/// An error for expected calls that were not made.
public struct UnusedScriptError: Error, Hashable, CustomStringConvertible {
    /// The number of unused answers.
    public let remainingAnswerCount: Int
    /// The routes that no call matched.
    public let unusedRoutes: [String]

    /// The unused answers and routes, on one line.
    public var description: String {
        let routes =
            unusedRoutes.isEmpty ? "" : "; no call to \(unusedRoutes.joined(separator: ", "))"
        return "\(remainingAnswerCount) answers were not asked for\(routes)"
    }
}
