import Foundation

/// Prints results and saves them.
enum Report {
    private static let widths = [46, 14, 14, 8, 12, 7]

    static func printHeader(_ group: String, _ options: Options) {
        let rounds =
            options.isQuick ? "one round: figures mean nothing" : "\(options.rounds) rounds"
        Swift.print("\(group): medians of \(rounds), Keel and peer in turn")
        Swift.print(row(["", "keel", "peer", "ratio", "target", "noise"], ""))
    }

    static func print(_ result: MeasureResult) {
        // A long run shows its progress, even through a pipe.
        defer { fflush(nil) }
        if let absence = result.absence {
            Swift.print("\(result.name): DID NOT RUN: \(absence)")
            return
        }
        let verdict =
            switch result.holds {
            case true?: "holds"
            case false?: "MISSED"
            case nil: "for information"
            }
        let cells = [
            result.name, "\(text(result.keel)) \(result.unit)",
            "\(text(result.peer)) \(result.unit)",
            // Zero by zero, if both sides count errors.
            result.ratio.isNaN ? "-" : String(format: "%.2f", result.ratio),
            result.target.text ?? "-",
            String(format: "±%.0f%%", result.noise * 100),
        ]
        Swift.print(row(cells, verdict))
    }

    private static func row(_ cells: [String], _ last: String) -> String {
        let padded = zip(cells, widths).enumerated().map { position, cell in
            let (text, width) = cell
            let space = String(repeating: " ", count: max(1, width - text.count))
            return position == 0 ? text + space : space + text
        }
        return padded.joined() + "  " + last
    }

    private static func text(_ figure: Double) -> String {
        String(format: figure < 100 ? "%.2f" : "%.0f", figure)
    }

    private struct Row: Encodable {
        let name: String
        let unit: String
        let keel: Double
        let peer: Double
        let ratio: Double
        let target: String?
        let holds: Bool?
        let absence: String?
    }

    static func write(_ results: [MeasureResult], to file: String) throws {
        let rows = results.map { result in
            Row(
                name: result.name,
                unit: result.unit,
                keel: result.keel,
                peer: result.peer,
                ratio: result.ratio,
                target: result.target.text,
                holds: result.holds,
                absence: result.absence
            )
        }
        let encoder = JSONEncoder()
        // A side that `--side` excludes has no number.
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(rows).write(to: URL(fileURLWithPath: file))
    }
}
