/// placeholder
package enum HTMLReport: Sendable {
    package static func page(_ report: LintReport, title: String) -> String { "" }
}
