/// The report as a self-contained page, with a chart of the layers.
package enum HTMLReport: Sendable {
    package static func page(_ report: LintReport, title: String) -> String {
        let drawing = LayerDrawing(report)
        let errors = report.findings.count { $0.severity == .error }
        let warnings = report.findings.count - errors
        let brokenKey =
            drawing.arrows.contains(where: \.isBroken)
            ? "<span class=\"key broken\"></span> forbidden uses" : ""
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(HTMLText.escaped(title)) · keel-lint</title>
            <style>\(style)</style>
            </head>
            <body>
            <header>
            <p class="tool">keel-lint</p>
            <h1>\(HTMLText.escaped(title))</h1>
            <ul class="figures">
            \(figure(errors, errors == 1 ? "error" : "errors", errors > 0 ? "bad" : "good"))
            \(figure(warnings, warnings == 1 ? "warning" : "warnings", warnings > 0 ? "so-so" : "good"))
            \(figure(report.fileCount, report.fileCount == 1 ? "file" : "files", ""))
            \(report.baselined.isEmpty ? "" : figure(report.baselined.count, "in the baseline", "so-so"))
            \(report.allowedCount == 0 ? "" : figure(report.allowedCount, "allowed by comments", ""))
            </ul>
            </header>
            <main>
            <section>
            <h2>Layers</h2>
            <div class="scroll">\(LayerChart(drawing).svg)</div>
            <p class="legend"><span class="key"></span> uses, with the number of imports and of types used\
            \(brokenKey)</p>
            </section>
            \(findings("Findings", report.findings, report))
            \(report.baselined.isEmpty ? "" : findings("In the baseline", report.baselined, report))
            \(contracts(report))
            \(notes(report))
            </main>
            </body>
            </html>

            """
    }

    private static func figure(_ count: Int, _ word: String, _ kind: String) -> String {
        "<li class=\"\(kind)\"><b>\(count)</b> \(word)</li>"
    }

    private static func findings(
        _ title: String,
        _ findings: [Finding],
        _ report: LintReport
    ) -> String {
        guard !findings.isEmpty else {
            return "<section><h2>\(title)</h2><p class=\"none\">Nothing found.</p></section>"
        }
        let groups = Dictionary(grouping: findings, by: \.rule)
            .sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
        return "<section><h2>\(title)</h2>"
            + groups.map { rule, findings in group(rule, findings, report) }.joined() + "</section>"
    }

    private static func group(_ rule: String, _ findings: [Finding], _ report: LintReport) -> String
    {
        let summary =
            BuiltInRules.named(rule)?.summary
            ?? report.project.configuration.contracts.first { $0.name == rule }
            .map { $0.because ?? "A contract: \($0.word)." } ?? ""
        return """
            <details open>
            <summary><span class="rule">\(HTMLText.escaped(rule))</span> \
            <span class="number">\(findings.count)</span> \
            <span class="what">\(HTMLText.rich(summary))</span></summary>
            <ol>\(findings.map(item).joined())</ol>
            </details>
            """
    }

    private static func item(_ finding: Finding) -> String {
        let chain =
            finding.path.isEmpty
            ? ""
            : """
            <ol \
            class=\"chain\">\(finding.path.map { "<li>\(HTMLText.rich($0))</li>" }.joined())</ol>
            """
        return """
            <li class="\(finding.severity.rawValue)"><p class="place">\
            \(HTMLText.escaped(finding.file)):\(finding.line):\(finding.column)</p>
            <p class="message">\(HTMLText.rich(finding.message))</p>\(chain)
            <p class="help">\(HTMLText.rich(finding.help))</p></li>
            """
    }

    private static func contracts(_ report: LintReport) -> String {
        let contracts = report.project.configuration.contracts
        guard !contracts.isEmpty else { return "" }
        let broken = Set((report.findings + report.baselined).map(\.rule))
        let rows = contracts.map { contract in
            """
            <tr><td><code>\(HTMLText.escaped(contract.name))</code></td><td>\(contract.word)</td>\
            <td>\(HTMLText.rich(contract.because ?? ""))</td>\
            <td class="\(broken.contains(contract.name) ? "bad" : "good")">\
            \(broken.contains(contract.name) ? "broken" : "holds")</td></tr>
            """
        }
        return """
            <section><h2>Contracts</h2><div class="scroll"><table>
            <tr><th>name</th><th>kind</th><th>because</th><th></th></tr>
            \(rows.joined(separator: "\n"))
            </table></div></section>
            """
    }

    private static func notes(_ report: LintReport) -> String {
        guard !report.notes.isEmpty else { return "" }
        let items = report.notes.map { note in
            let file = note.file.map { "<code>\(HTMLText.escaped($0))</code> " } ?? ""
            return "<li>\(file)\(HTMLText.rich(note.text))</li>"
        }
        return "<section><h2>Notes</h2><ul class=\"notes\">\(items.joined())</ul></section>"
    }

    private static let style = """
        :root{color-scheme:light dark;--ground:#f7f8fa;--card:#fff;--text:#1b1f27;--soft:#5d6675;\
        --line:#dfe3ea;--arrow:#8a93a3;--bad:#c62828;--bad-soft:#fdecec;--warn:#9a5b00;--good:#1b7f4b;\
        --domain:#e4efff;--domain-line:#5b8def;--data:#e6f6ec;--data-line:#46a36c;\
        --infrastructure:#fdf0df;--infrastructure-line:#d99536;--presentation:#f2e9fc;\
        --presentation-line:#9566d1;--other:#eef0f4;--other-line:#98a1b1}
        @media(prefers-color-scheme:dark){:root{--ground:#12151b;--card:#1a1f27;--text:#e8ebf0;\
        --soft:#9aa4b4;--line:#2c333e;--arrow:#6f7a8b;--bad:#ff7a73;--bad-soft:#3a1f21;--warn:#f0b35a;\
        --good:#5fce93;--domain:#1c2c49;--domain-line:#5b8def;--data:#17321f;--data-line:#46a36c;\
        --infrastructure:#3a2a12;--infrastructure-line:#d99536;--presentation:#2d2140;\
        --presentation-line:#a77fe0;--other:#232a34;--other-line:#667185}}
        *{box-sizing:border-box}
        body{margin:0;background:var(--ground);color:var(--text);\
        font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
        header,main{max-width:1120px;margin:0 auto;padding:0 24px}
        header{padding-top:36px}
        .tool{margin:0;color:var(--soft);letter-spacing:.04em}
        h1{margin:0;font-size:30px;line-height:1.2}
        h2{font-size:18px;margin:0 0 14px}
        section{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:22px 24px;\
        margin:20px 0}
        .figures{display:flex;flex-wrap:wrap;gap:10px;list-style:none;margin:16px 0 0;padding:0}
        .figures li{background:var(--card);border:1px solid var(--line);border-radius:10px;\
        padding:6px 14px;color:var(--soft)}
        .figures b{color:var(--text);font-size:18px;margin-right:3px;font-variant-numeric:tabular-nums}
        .figures .bad b,td.bad{color:var(--bad)}.figures .good b,td.good{color:var(--good)}
        .figures .so-so b{color:var(--warn)}
        .scroll{overflow-x:auto}
        .chart{display:block;width:100%;height:auto;margin:0 auto}
        .part rect{fill:var(--other);stroke:var(--other-line);stroke-width:1.5}
        .part.none rect{stroke-dasharray:5 4}
        .part.domain rect{fill:var(--domain);stroke:var(--domain-line)}
        .part.data rect{fill:var(--data);stroke:var(--data-line)}
        .part.infrastructure rect{fill:var(--infrastructure);stroke:var(--infrastructure-line)}
        .part.presentation rect{fill:var(--presentation);stroke:var(--presentation-line)}
        .part text,.count text{text-anchor:middle;fill:var(--text)}
        .part .name{font-weight:600;font-size:15px}
        .part .long{font-size:13px}
        .part .files{font-size:12px;fill:var(--soft)}
        .arrow{fill:none;stroke:var(--arrow);stroke-width:1.6}
        .arrow.broken{stroke:var(--bad);stroke-width:2.4}
        .tip{fill:var(--arrow)}.tip.broken{fill:var(--bad)}
        .count rect{fill:var(--card);stroke:var(--line)}
        .count text{font-size:12px;fill:var(--soft);font-variant-numeric:tabular-nums}
        .count.broken rect{fill:var(--bad-soft);stroke:var(--bad)}.count.broken text{fill:var(--bad)}
        .legend{color:var(--soft);font-size:13px;margin:12px 0 0}
        .key{display:inline-block;width:26px;border-top:2px solid var(--arrow);vertical-align:middle;\
        margin:0 4px 0 0}
        .key.broken{border-color:var(--bad);margin-left:16px}
        details{border-top:1px solid var(--line);padding:12px 0}
        details:first-of-type{border-top:0;padding-top:0}
        summary{cursor:pointer}
        .rule{font:600 14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
        .number{background:var(--bad-soft);color:var(--bad);border-radius:9px;padding:1px 8px;font-size:12px;\
        font-variant-numeric:tabular-nums}
        .what,.help,.place,.none{color:var(--soft)}
        details>ol{list-style:none;margin:10px 0 0;padding:0}
        details>ol>li{border-left:3px solid var(--bad);padding:2px 0 2px 14px;margin:12px 0}
        details>ol>li.warning{border-color:var(--warn)}
        li p{margin:0}
        .place{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
        .help{font-size:14px}
        .chain{margin:4px 0;padding-left:22px;font-size:13px;color:var(--soft)}
        code{font:.92em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
        table{border-collapse:collapse;width:100%}
        th,td{text-align:left;padding:7px 12px 7px 0;border-top:1px solid var(--line);vertical-align:top}
        tr:first-child th{border-top:0;color:var(--soft);font-weight:500}
        .notes{margin:0;padding-left:20px;color:var(--soft)}
        """
}
