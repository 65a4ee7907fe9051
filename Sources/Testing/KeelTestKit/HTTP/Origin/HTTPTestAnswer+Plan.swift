package import HTTPTypes

extension HTTPTestAnswer {
    package enum Step: Sendable, Hashable {
        case pause(Duration)
        case informational(HTTPResponse)
        /// The head; `isWhole` means that neither a body nor trailers follow.
        case head(HTTPResponse, Coding, isWhole: Bool)
        /// The first half of the head.
        case partialHead(HTTPResponse, Coding)
        case piece(ArraySlice<UInt8>)
        /// The end of the body, unless the head was the whole answer.
        case end(HTTPFields?)
        case raw([UInt8])
        case interrupt(Action)
    }

    /// The marking of the body's end after `framing` was resolved.
    package enum Coding: Sendable, Hashable {
        case none
        case length(Int)
        case chunked
        case untilClose
    }

    package func steps(answering method: String) -> [Step] {
        var steps: [Step] = delay.map { [.pause($0)] } ?? []
        steps += informational.map { .informational($0) }
        if let rawBytes {
            steps.append(.raw(rawBytes))
            return steps + (interruption.map { [.interrupt($0.action)] } ?? [])
        }
        let coding = coding
        let isBodiless = method == "HEAD" || head.status.code == 204 || head.status.code == 304
        switch interruption?.place {
        case .beforeHead?:
            break
        case .insideHead?:
            steps.append(.partialHead(head, coding))
        case .insideBody(let count)? where !isBodiless:
            steps.append(.head(head, coding, isWhole: false))
            steps += pieces(upTo: count)
        default:
            let isWhole = isBodiless || (trailers == nil && body.isEmpty && coding != .chunked)
            steps.append(.head(head, coding, isWhole: isWhole))
            if !isWhole { steps += pieces(upTo: .max) + [.end(trailers)] }
        }
        if let interruption { steps.append(.interrupt(interruption.action)) }
        return steps
    }

    private var coding: Coding {
        switch framing {
        case .automatic where trailers != nil: .chunked
        case .automatic where head.status.code == 204: .none
        case .automatic: .length(body.reduce(0) { $0 + $1.count })
        case .length(let length): .length(length)
        case .chunked: .chunked
        case .untilClose: .untilClose
        }
    }

    private func pieces(upTo limit: Int) -> [Step] {
        var left = limit
        var steps: [Step] = []
        for piece in body {
            var rest = piece.prefix(left)
            left -= rest.count
            guard let throttle else {
                if !rest.isEmpty { steps.append(.piece(rest)) }
                continue
            }
            while !rest.isEmpty {
                if !steps.isEmpty { steps.append(.pause(throttle.interval)) }
                steps.append(.piece(rest.prefix(throttle.bytes)))
                rest = rest.dropFirst(throttle.bytes)
            }
        }
        return steps
    }
}
