//! JUnit's XML, which CI servers show: a test case for each finding, that has failed, or one that has passed.

use gencl_program::found::Found;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

pub(super) fn report(findings: &[Found], program: &str) -> Result<String, String> {
    let mut suite = TestSuite::new(program);
    for finding in findings {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        let first = finding.to_string();
        let message = first.lines().next().unwrap_or_default();
        status.set_type(finding.kind()).set_message(message).set_description(first.as_str());
        let place = finding.places().first().map(ToString::to_string).unwrap_or_default();
        let mut case = TestCase::new(format!("{} at {place}", finding.kind()), status);
        case.set_classname(finding.subject());
        suite.add_test_case(case);
    }
    if findings.is_empty() {
        suite.add_test_case(TestCase::new("kernels", TestCaseStatus::success()));
    }
    let mut report = Report::new("gencl-check");
    report.add_test_suite(suite);
    report.to_string().map_err(|error| error.to_string())
}
