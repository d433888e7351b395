// The grammar: comments, continuations, Include, pairs.
#include "conf/lines.hpp"

#include <gtest/gtest.h>

#include "unit/conf/folder.hpp"

namespace fedsim::conf {
namespace {

const FileGrammar kGrammar{{"NodeName", "PartitionName"}, true};

/// Records as "key=value key=value @line", one a line.
std::string shown(const FileText& text) {
  std::string out;
  for (const Record& record : text.records) {
    for (const Pair& pair : record.pairs) out += pair.key + "=<" + pair.value + "> ";
    out += "@" + std::to_string(record.place.line) + "\n";
  }
  return out;
}

struct Parsed {
  std::string records;
  std::vector<Diagnostic> findings;
};

Parsed parse(const std::string& text) {
  Findings findings;
  const FileText file = read_conf_text(text, {"/nowhere", "slurm.conf"}, kGrammar, findings);
  return {shown(file), findings.all()};
}

TEST(Lines, PlainOptionsAreOneRecordEach) {
  EXPECT_EQ(parse("A=1 B=2\nC=3").records, "A=<1> @1\nB=<2> @1\nC=<3> @2\n");
}

TEST(Lines, ARecordTakesTheRestOfItsLine) {
  EXPECT_EQ(parse("A=1 NodeName=n1 CPUs=4\n").records, "A=<1> @1\nNodeName=<n1> CPUs=<4> @1\n");
}

TEST(Lines, BlanksTabsAndQuotes) {
  EXPECT_EQ(parse("\t NodeName =  n1\tFeature=\"a,b c\"   CPUs= 8 \r\n").records,
            "NodeName=<n1> Feature=<a,b c> CPUs=<8> @1\n");
  EXPECT_EQ(parse("PartitionName=q Nodes=\"\"").records, "PartitionName=<q> Nodes=<> @1\n");
  EXPECT_EQ(parse("A=\"x y").records, "A=<\"x> @1\n");  // no closing quote: up to the blank
  EXPECT_EQ(parse("A+=x").records, "A=<x> @1\n");
}

TEST(Lines, CommentsEndALineUnlessEscaped) {
  EXPECT_EQ(parse("# all\nA=1 # rest B=2\nC=a\\#b\n").records, "A=<1> @2\nC=<a#b> @3\n");
}

TEST(Lines, ContinuationsJoinWithoutABlank) {
  EXPECT_EQ(parse("PartitionName=p \\\n  Nodes=\\\nn1,\\\nn2\nA=1").records,
            "PartitionName=<p> Nodes=<n1,n2> @1\nA=<1> @5\n");
}

TEST(Lines, ACommentLineEndsAContinuedLine) {
  EXPECT_EQ(parse("PartitionName=q Nodes=n1 \\\n# inside\n  DefaultTime=10\n").records,
            "PartitionName=<q> Nodes=<n1> @1\nDefaultTime=<10> @3\n");
}

TEST(Lines, ValuesKnowTheirOwnLine) {
  Findings findings;
  const FileText file = read_conf_text("PartitionName=p \\\n MaxTime=1 \\\n Nodes=\\\nn1\n",
                                       {"/nowhere", "slurm.conf"}, kGrammar, findings);
  ASSERT_EQ(file.records.size(), 1U);
  EXPECT_EQ(file.records[0].pairs[1].line, 2);
  EXPECT_EQ(file.records[0].pairs[2].line, 4);  // where the value begins
}

TEST(Lines, TextThatIsNoPairIsAnErrorAndTheRestIsRead) {
  const Parsed parsed = parse("<<<<<<< HEAD\nA=1 stray words\nB=\nC=3\n");
  EXPECT_EQ(parsed.records, "A=<1> @2\nC=<3> @4\n");
  ASSERT_EQ(parsed.findings.size(), 3U);
  for (const Diagnostic& d : parsed.findings) EXPECT_EQ(d.code, "C001");
  EXPECT_EQ(parsed.findings[0].line, 1);
  EXPECT_EQ(parsed.findings[1].line, 2);
  EXPECT_NE(parsed.findings[1].message.find("stray words"), std::string::npos);
  EXPECT_EQ(parsed.findings[2].line, 3);
}

TEST(Lines, AMissingLineEndIsFoundAndRepaired) {
  const Parsed parsed = parse("PartitionName=p Nodes=\\\nn0,\\\nn1NodeName=DEFAULT CPUs=4\n");
  EXPECT_EQ(parsed.records, "PartitionName=<p> Nodes=<n0,n1> @1\nNodeName=<DEFAULT> CPUs=<4> @3\n");
  ASSERT_EQ(parsed.findings.size(), 1U);
  EXPECT_EQ(parsed.findings[0].code, "C004");
  EXPECT_EQ(parsed.findings[0].line, 2);
  const Parsed inside = parse("NodeName=n1 CPUs=4 PartitionName=p Nodes=n1\n");
  EXPECT_EQ(inside.records, "NodeName=<n1> CPUs=<4> @1\nPartitionName=<p> Nodes=<n1> @1\n");
  ASSERT_EQ(inside.findings.size(), 1U);
  EXPECT_EQ(inside.findings[0].code, "C004");
}

TEST(Lines, EmptyAndOddTextIsHarmless) {
  for (const char* text :
       {"", "\n\n", "\\", "\\\n", "#", "=", "=x", "A", "A=", "\"", "\\#"}) {
    EXPECT_EQ(parse(text).records, "") << text;
  }
  EXPECT_EQ(parse(std::string("A=1\0B", 5)).records.substr(0, 4), "A=<1");
  EXPECT_EQ(parse("\xEF\xBB\xBFNodeName=n1\n").records, "NodeName=<n1> @1\n");
}

TEST(Lines, IncludeIsReadInPlace) {
  const Folder folder({{"slurm.conf", "ClusterName=Alpha\n include  sub/%c.conf # here\nB=2"},
                       {"sub/alpha.conf", "A=1"}});
  Findings findings;
  const FileText file = read_conf_file({folder.path(), "slurm.conf"}, kGrammar, findings);
  EXPECT_TRUE(findings.all().empty());
  ASSERT_EQ(file.records.size(), 3U);
  EXPECT_EQ(file.records[1].place.file, "sub/alpha.conf");
  EXPECT_EQ(file.records[1].place.via, "slurm.conf line 2");
  EXPECT_EQ(file.records[2].pairs[0].key, "B");
}

TEST(Lines, IncludeProblems) {
  const Folder folder({{"slurm.conf", "Include gone.conf\nInclude=eq.conf\nInclude loop.conf\n"},
                       {"eq.conf", "A=1\n"},
                       {"loop.conf", "C=1\nInclude loop.conf\n"}});
  Findings findings;
  const FileText file = read_conf_file({folder.path(), "slurm.conf"}, kGrammar, findings);
  EXPECT_TRUE(file.include_failed);
  EXPECT_EQ(shown(file), "A=<1> @1\nC=<1> @1\n");
  ASSERT_EQ(findings.all().size(), 3U);
  EXPECT_EQ(to_string(findings.all()[0]).substr(0, 25), "slurm.conf:1: error C002:");
  EXPECT_NE(findings.all()[0].message.find("gone.conf"), std::string::npos);
  EXPECT_EQ(findings.all()[1].code, "C003");
  EXPECT_EQ(findings.all()[2].file, "loop.conf");
  EXPECT_NE(findings.all()[2].message.find("included from slurm.conf line 3"), std::string::npos);
}

TEST(Lines, AbsoluteIncludeOfACopyIsFoundInTheFolder) {
  const Folder folder({{"slurm.conf", "Include /etc/no-such-folder/nodes.conf\n"},
                       {"nodes.conf", "NodeName=n1\n"}});
  Findings findings;
  const FileText file = read_conf_file({folder.path(), "slurm.conf"}, kGrammar, findings);
  EXPECT_EQ(shown(file), "NodeName=<n1> @1\n");
  ASSERT_EQ(findings.all().size(), 1U);
  EXPECT_EQ(findings.all()[0].code, "C035");
}

}  // namespace
}  // namespace fedsim::conf
